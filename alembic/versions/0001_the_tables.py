"""The tables: the whole schema in one first revision."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def partial(name: str, table: str, columns: list[str], *, where: str) -> None:
    """Make an index over the rows that a condition holds for."""
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=False, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    """Go to this revision."""
    op.create_table(
        "Count",
        sa.Column("seed_id", BIG, autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", BIG, nullable=False),
        sa.PrimaryKeyConstraint("seed_id", "name", name="pk_Count"),
    )
    op.create_table(
        "Edge",
        sa.Column("page_id", BIG, autoincrement=False, nullable=False),
        sa.Column("link_id", BIG, autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("relation", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("page_id", "link_id", name="pk_Edge"),
    )
    op.create_table(
        "Forgotten",
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("target", name="pk_Forgotten"),
    )
    op.create_table(
        "Host",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("next_at", BIG, nullable=False),
        sa.Column("waiting", BIG, nullable=False),
        sa.Column("lease_worker", BIG, nullable=True),
        sa.Column("lease_until", BIG, nullable=True),
        sa.Column("delay", BIG, nullable=False),
        sa.Column("latency", BIG, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_Host"),
        sa.UniqueConstraint("name", name="uq_Host_name"),
    )
    partial("ix_Host_due", "Host", ["next_at"], where="waiting > 0")
    partial("ix_Host_leased", "Host", ["lease_worker"], where="lease_worker IS NOT NULL")
    op.create_table(
        "MediaCheck",
        sa.Column("url_hash", BIG, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("health", sa.SmallInteger(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("reason", sa.SmallInteger(), nullable=True),
        sa.Column("mime", sa.Text(), nullable=True),
        sa.Column("size", BIG, nullable=True),
        sa.Column("moved_to", sa.Text(), nullable=True),
        sa.Column("checked_at", BIG, nullable=False),
        sa.PrimaryKeyConstraint("url_hash", name="pk_MediaCheck"),
    )
    op.create_table(
        "Meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_Meta"),
    )
    op.create_table(
        "Nearer",
        sa.Column("link_id", BIG, autoincrement=False, nullable=False),
        sa.Column("seed_id", BIG, nullable=False),
        sa.PrimaryKeyConstraint("link_id", name="pk_Nearer"),
    )
    op.create_index("ix_Nearer_seed_id", "Nearer", ["seed_id"], unique=False)
    op.create_table(
        "OutLink",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("url_hash", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("page_id", BIG, nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("count", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_OutLink"),
        sa.UniqueConstraint("url_hash", name="uq_OutLink_url_hash"),
    )
    op.create_table(
        "Quota",
        sa.Column("run_id", BIG, autoincrement=False, nullable=False),
        sa.Column("host_id", BIG, autoincrement=False, nullable=False),
        sa.Column("pages", BIG, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "host_id", name="pk_Quota"),
    )
    op.create_table(
        "Run",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("began_at", BIG, nullable=False),
        sa.Column("ended_at", BIG, nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=True),
        sa.Column("pages", BIG, nullable=False),
        sa.Column("done", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_Run"),
    )
    op.create_table(
        "SeedLink",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("origin", sa.SmallInteger(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("added_at", BIG, nullable=False),
        sa.Column("decided_at", BIG, nullable=True),
        sa.Column("landed_url", sa.Text(), nullable=True),
        sa.Column("options", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_SeedLink"),
        sa.UniqueConstraint("key", name="uq_SeedLink_key"),
    )
    op.create_table(
        "Skipped",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("url_hash", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("page_id", BIG, nullable=True),
        sa.Column("at", BIG, nullable=False),
        sa.Column("count", BIG, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_Skipped"),
        sa.UniqueConstraint("url_hash", "rule", name="uq_Skipped_url_hash_rule"),
    )
    op.create_table(
        "CrawlerLink",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("host_id", BIG, nullable=False),
        sa.Column("h", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("seed_id", BIG, nullable=False),
        sa.Column("parent_id", BIG, nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("relation", sa.SmallInteger(), nullable=False),
        sa.Column("hops", sa.SmallInteger(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("worker_id", BIG, nullable=True),
        sa.Column("reason", sa.SmallInteger(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("retry_at", BIG, nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["Host.id"], name="fk_CrawlerLink_host_id"),
        sa.ForeignKeyConstraint(["seed_id"], ["SeedLink.id"], name="fk_CrawlerLink_seed_id"),
        sa.PrimaryKeyConstraint("id", name="pk_CrawlerLink"),
        sa.UniqueConstraint("host_id", "h", name="uq_CrawlerLink_host_id_h"),
    )
    partial("ix_CrawlerLink_error", "CrawlerLink", ["retry_at"], where="state = 4")
    partial("ix_CrawlerLink_running", "CrawlerLink", ["worker_id"], where="state = 2")
    partial("ix_CrawlerLink_waiting", "CrawlerLink", ["host_id", "late", "depth", "id"], where="state = 1")
    op.create_table(
        "Origin",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("host_id", BIG, nullable=False),
        sa.Column("scheme", sa.Text(), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("robots_body", sa.LargeBinary(), nullable=True),
        sa.Column("robots_status", sa.Integer(), nullable=False),
        sa.Column("robots_at", BIG, nullable=False),
        sa.Column("crawl_delay", BIG, nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["Host.id"], name="fk_Origin_host_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Origin"),
        sa.UniqueConstraint("host_id", "scheme", "port", name="uq_Origin_host_id_scheme_port"),
    )
    op.create_table(
        "Worker",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("run_id", BIG, nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("boot_id", sa.Text(), nullable=False),
        sa.Column("pid", BIG, nullable=False),
        sa.Column("started", sa.Text(), nullable=False),
        sa.Column("began_at", BIG, nullable=False),
        sa.Column("heartbeat_at", BIG, nullable=False),
        sa.Column("pages", BIG, nullable=False),
        sa.Column("granted", BIG, nullable=False),
        sa.Column("done", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["Run.id"], name="fk_Worker_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Worker"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "Audio",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("page_id", BIG, nullable=False),
        sa.Column("url_hash", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.SmallInteger(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=True),
        sa.Column("format", sa.Text(), nullable=True),
        sa.Column("poster", sa.Text(), nullable=True),
        sa.Column("duration", sa.Float(), nullable=True),
        sa.Column("state_id", BIG, nullable=True),
        sa.Column("first_seen", BIG, nullable=False),
        sa.Column("last_seen", BIG, nullable=False),
        sa.Column("gone_at", BIG, nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["CrawlerLink.id"], name="fk_Audio_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Audio"),
        sa.UniqueConstraint("page_id", "url_hash", name="uq_Audio_page_id_url_hash"),
    )
    op.create_table(
        "Flash",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("page_id", BIG, nullable=False),
        sa.Column("url_hash", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.SmallInteger(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=True),
        sa.Column("format", sa.Text(), nullable=True),
        sa.Column("poster", sa.Text(), nullable=True),
        sa.Column("duration", sa.Float(), nullable=True),
        sa.Column("state_id", BIG, nullable=True),
        sa.Column("first_seen", BIG, nullable=False),
        sa.Column("last_seen", BIG, nullable=False),
        sa.Column("gone_at", BIG, nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["CrawlerLink.id"], name="fk_Flash_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Flash"),
        sa.UniqueConstraint("page_id", "url_hash", name="uq_Flash_page_id_url_hash"),
    )
    op.create_table(
        "Likeness",
        sa.Column("band", BIG, autoincrement=False, nullable=False),
        sa.Column("link_id", BIG, autoincrement=False, nullable=False),
        sa.Column("simhash", BIG, nullable=False),
        sa.PrimaryKeyConstraint("band", "link_id", name="pk_Likeness"),
    )
    op.create_index("ix_Likeness_link_id", "Likeness", ["link_id"], unique=False)
    op.create_table(
        "Page",
        sa.Column("link_id", BIG, autoincrement=False, nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("charset", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("content_hash", BIG, nullable=False),
        sa.Column("simhash", BIG, nullable=True),
        sa.Column("size", BIG, nullable=False),
        sa.Column("fetched_at", BIG, nullable=False),
        sa.Column("changed_at", BIG, nullable=False),
        sa.Column("due_at", BIG, nullable=True),
        sa.Column("canonical", sa.Text(), nullable=True),
        sa.Column("redirect_to", sa.Text(), nullable=True),
        sa.Column("copy_of", BIG, nullable=True),
        sa.Column("application", sa.Text(), nullable=True),
        sa.Column("ajax", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(["link_id"], ["CrawlerLink.id"], name="fk_Page_link_id"),
        sa.PrimaryKeyConstraint("link_id", name="pk_Page"),
    )
    partial("ix_Page_content", "Page", ["content_hash"], where="content_hash <> 0")
    op.create_table(
        "State",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("page_id", BIG, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("depth", sa.SmallInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("screenshot", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["CrawlerLink.id"], name="fk_State_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_State"),
        sa.UniqueConstraint("page_id", "identity", name="uq_State_page_id_identity"),
    )
    op.create_table(
        "Video",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("page_id", BIG, nullable=False),
        sa.Column("url_hash", BIG, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("confidence", sa.SmallInteger(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=True),
        sa.Column("format", sa.Text(), nullable=True),
        sa.Column("poster", sa.Text(), nullable=True),
        sa.Column("duration", sa.Float(), nullable=True),
        sa.Column("state_id", BIG, nullable=True),
        sa.Column("first_seen", BIG, nullable=False),
        sa.Column("last_seen", BIG, nullable=False),
        sa.Column("gone_at", BIG, nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["CrawlerLink.id"], name="fk_Video_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Video"),
        sa.UniqueConstraint("page_id", "url_hash", name="uq_Video_page_id_url_hash"),
    )
    op.create_table(
        "Transition",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("from_id", BIG, nullable=False),
        sa.Column("to_id", BIG, nullable=False),
        sa.Column("element", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["from_id"], ["State.id"], name="fk_Transition_from_id"),
        sa.ForeignKeyConstraint(["to_id"], ["State.id"], name="fk_Transition_to_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Transition"),
    )
    op.create_index("ix_Transition_from_id", "Transition", ["from_id"], unique=False)
    op.create_table(
        "Resource",
        sa.Column("id", BIG, autoincrement=True, nullable=False),
        sa.Column("state_id", BIG, nullable=False),
        sa.Column("transition_id", BIG, nullable=True),
        sa.Column("event", sa.Text(), nullable=True),
        sa.Column("element", sa.Text(), nullable=True),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body_shape", sa.Text(), nullable=True),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("mime", sa.Text(), nullable=True),
        sa.Column("refused", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["state_id"], ["State.id"], name="fk_Resource_state_id"),
        sa.ForeignKeyConstraint(["transition_id"], ["Transition.id"], name="fk_Resource_transition_id"),
        sa.PrimaryKeyConstraint("id", name="pk_Resource"),
    )
    op.create_index("ix_Resource_state_id", "Resource", ["state_id"], unique=False)


def downgrade() -> None:
    """Go back from it; a table takes its indexes along."""
    op.drop_table("Resource")
    op.drop_table("Transition")
    op.drop_table("Video")
    op.drop_table("State")
    op.drop_table("Page")
    op.drop_table("Likeness")
    op.drop_table("Flash")
    op.drop_table("Audio")
    op.drop_table("Worker")
    op.drop_table("Origin")
    op.drop_table("CrawlerLink")
    op.drop_table("Skipped")
    op.drop_table("SeedLink")
    op.drop_table("Run")
    op.drop_table("Quota")
    op.drop_table("OutLink")
    op.drop_table("Nearer")
    op.drop_table("Meta")
    op.drop_table("MediaCheck")
    op.drop_table("Host")
    op.drop_table("Forgotten")
    op.drop_table("Edge")
    op.drop_table("Count")
