"""Alembic's entry: migrations always run on the connection that harness.store.migrate hands over."""

from alembic import context

from harness.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
