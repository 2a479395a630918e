"""The tables of paper 4: the states of Ajax applications, the events between them, the resources they ask for."""

from __future__ import annotations

import sqlalchemy as sa

from spider.store.columns import Base, BigInt, Field, column, number

__all__ = ["Resource", "State", "Transition"]


class State(Base):
    """A state of an Ajax application: a vertex of its graph (paper 4).  The start is the first of its page."""

    id: Field[int] = number()
    page_id: Field[int] = column(BigInt, refers="CrawlerLink.id", doc="The link of its page.")
    identity: Field[str] = column(sa.Text, doc="The hash of its filtered DOM.")
    depth: Field[int] = column(sa.SmallInteger, doc="Events from the first state, at the least.")
    url: Field[str] = column(sa.Text, doc="The address that the application showed there.")
    screenshot: Field[str | None] = column(sa.Text, doc="File name of its picture.")

    __table_args__ = (sa.UniqueConstraint("page_id", "identity"),)


class Transition(Base):
    """An edge of the graph: an event on an element leads from one state to another."""

    id: Field[int] = number()
    from_id: Field[int] = column(BigInt, refers="State.id", index=True, doc="The state before.")
    to_id: Field[int] = column(BigInt, refers="State.id", doc="The state after.")
    element: Field[str] = column(sa.Text, doc="A path to the element.")
    event: Field[str] = column(sa.Text, doc="The event's name.")


class Resource(Base):
    """A back-end resource that an application asked for (a Deep Web resource), with the first event that did."""

    id: Field[int] = number()
    state_id: Field[int] = column(BigInt, refers="State.id", index=True, doc="The state it was asked in.")
    transition_id: Field[int | None] = column(
        BigInt, refers="Transition.id", doc="The transition that asked; empty where the event led nowhere new."
    )
    event: Field[str | None] = column(sa.Text, doc="The event that asked; empty for the page's load.")
    element: Field[str | None] = column(sa.Text, doc="A path to the element of that event.")
    method: Field[str] = column(sa.Text, doc="HTTP method.")
    url: Field[str] = column(sa.Text, doc="Its address.")
    kind: Field[str] = column(sa.Text, doc="How it was asked: xhr, fetch, beacon, eventsource, websocket …")
    body_shape: Field[str | None] = column(sa.Text, doc="The names in the request's body, without values.")
    status: Field[int | None] = column(sa.SmallInteger, doc="HTTP status; empty when not sent.")
    mime: Field[str | None] = column(sa.Text, doc="Media type of the answer.")
    refused: Field[str | None] = column(sa.Text, doc="The rule that kept it from being sent.")
