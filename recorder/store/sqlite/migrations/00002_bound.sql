-- What only a bound recording knows: what a run cost, who called, what the model
-- asked for where other arguments ran, and how often the call was sent.

-- +goose Up
ALTER TABLE runs ADD COLUMN usage TEXT NOT NULL DEFAULT '' CHECK (usage = '' OR json_valid(usage));

ALTER TABLE steps ADD COLUMN asked_input TEXT    NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN agent_id    TEXT    NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN agent_type  TEXT    NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN attempts    INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE steps DROP COLUMN attempts;
ALTER TABLE steps DROP COLUMN agent_type;
ALTER TABLE steps DROP COLUMN agent_id;
ALTER TABLE steps DROP COLUMN asked_input;
ALTER TABLE runs DROP COLUMN usage;
