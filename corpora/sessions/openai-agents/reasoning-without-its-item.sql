CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP, FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);
INSERT INTO agent_sessions (session_id) VALUES ('chat');
INSERT INTO agent_messages (session_id, message_data) VALUES ('chat', '{"role":"user","content":"Look."}');
INSERT INTO agent_messages (session_id, message_data) VALUES ('chat', '{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"e"}');
INSERT INTO agent_messages (session_id, message_data) VALUES ('chat', '{"role":"user","content":"Well?"}');
