-- role is what the process does: all, api or worker. It is '' for processes of versions
-- before this column.
ALTER TABLE processes ADD COLUMN role bytetext NOT NULL DEFAULT '';
