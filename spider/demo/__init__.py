"""A small web site that comes with the program, the server that shows it, and the truth about it.

The site was written for this project so that a newcomer sees a whole crawl in seconds and a test knows
what every page of it holds.  This room crawls nothing and knows no database.
"""

from spider.demo.place import make_way
from spider.demo.server import serve
from spider.demo.truth import TRUTH, Medium, Sight, Truth

__all__ = ["TRUTH", "Medium", "Sight", "Truth", "make_way", "serve"]
