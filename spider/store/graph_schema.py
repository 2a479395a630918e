"""The tables of paper 4: the states of Ajax applications, the events between them, the resources they ask for."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from spider.store.columns import Base, BigInt, number

__all__ = ["Resource", "State", "Transition"]


class State(Base):
    """A state of an Ajax application: a vertex of its graph (paper 4).  The start is the first of its page."""

    __tablename__ = "State"

    id: Mapped[int] = number()
    page_id: Mapped[int] = mapped_column(BigInt, sa.ForeignKey("CrawlerLink.id"), doc="The link of its page.")
    identity: Mapped[str] = mapped_column(sa.Text, doc="The hash of its filtered DOM.")
    depth: Mapped[int] = mapped_column(sa.SmallInteger, doc="Events from the first state, at the least.")
    url: Mapped[str] = mapped_column(sa.Text, doc="The address that the application showed there.")
    screenshot: Mapped[str | None] = mapped_column(sa.Text, doc="File name of its picture.")

    __table_args__ = (sa.UniqueConstraint("page_id", "identity"),)


class Transition(Base):
    """An edge of the graph: an event on an element leads from one state to another."""

    __tablename__ = "Transition"

    id: Mapped[int] = number()
    from_id: Mapped[int] = mapped_column(BigInt, sa.ForeignKey("State.id"), index=True, doc="The state before.")
    to_id: Mapped[int] = mapped_column(BigInt, sa.ForeignKey("State.id"), doc="The state after.")
    element: Mapped[str] = mapped_column(sa.Text, doc="A path to the element.")
    event: Mapped[str] = mapped_column(sa.Text, doc="The event's name.")


class Resource(Base):
    """A back-end resource that an application asked for (a Deep Web resource), with the first event that did."""

    __tablename__ = "Resource"

    id: Mapped[int] = number()
    state_id: Mapped[int] = mapped_column(
        BigInt, sa.ForeignKey("State.id"), index=True, doc="The state it was asked in."
    )
    transition_id: Mapped[int | None] = mapped_column(
        BigInt, sa.ForeignKey("Transition.id"), doc="The transition that asked; empty where the event led nowhere new."
    )
    event: Mapped[str | None] = mapped_column(sa.Text, doc="The event that asked; empty for the page's load.")
    element: Mapped[str | None] = mapped_column(sa.Text, doc="A path to the element of that event.")
    method: Mapped[str] = mapped_column(sa.Text, doc="HTTP method.")
    url: Mapped[str] = mapped_column(sa.Text, doc="Its address.")
    kind: Mapped[str] = mapped_column(sa.Text, doc="How it was asked: xhr, fetch, beacon, eventsource, websocket …")
    body_shape: Mapped[str | None] = mapped_column(sa.Text, doc="The names in the request's body, without values.")
    status: Mapped[int | None] = mapped_column(sa.SmallInteger, doc="HTTP status; empty when not sent.")
    mime: Mapped[str | None] = mapped_column(sa.Text, doc="Media type of the answer.")
    refused: Mapped[str | None] = mapped_column(sa.Text, doc="The rule that kept it from being sent.")
