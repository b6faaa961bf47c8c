CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
INSERT INTO schema_version (version) VALUES (17);
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, provider_name TEXT, model_config_json TEXT);
INSERT INTO sessions VALUES ('20260101_1', '/w', 'anthropic', '{"model_name":"claude-sonnet-4-5"}');
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES ('msg_0', '20260101_1', 'user', '[{"type":"text","text":"List."}]', 100, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES ('msg_1', '20260101_1', 'assistant', '[{"type":"text","text":"Listed."}]', 101, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES ('msg_2', '20260101_1', 'user', '[{"type":"text","te', 102, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES ('msg_3', '20260101_1', 'assistant', '[{"type":"text","text":"Sorted."}]', 103, '{"userVisible":true,"agentVisible":true}');
