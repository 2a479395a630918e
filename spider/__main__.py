"""``python -m spider`` is ``spider``."""

from spider.cli import main

if __name__ == "__main__":
    main()
