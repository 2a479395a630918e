"""Run the migrations over the connection that `spider.store.database` hands in.

By hand (`alembic revision --autogenerate` while developing): the address is SPIDER_DB's.
"""

from __future__ import annotations

import os

import sqlalchemy as sa
from alembic import context

from spider.store.database import address_of
from spider.store.schema import Base


def migrate(connection: sa.Connection) -> None:
    """Run what is missing within the connection's own transaction."""
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


handed_in = context.config.attributes.get("connection")
if handed_in is not None:
    migrate(handed_in)
else:
    with sa.create_engine(address_of(os.environ.get("SPIDER_DB", "spider.db"))).begin() as own:
        migrate(own)
