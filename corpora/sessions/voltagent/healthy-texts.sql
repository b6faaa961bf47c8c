CREATE TABLE voltagent_memory_conversations (id TEXT PRIMARY KEY, resource_id TEXT NOT NULL, user_id TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE voltagent_memory_messages (conversation_id TEXT NOT NULL, message_id TEXT NOT NULL, user_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL, metadata TEXT, format_version INTEGER DEFAULT 2, created_at TEXT NOT NULL, PRIMARY KEY (conversation_id, message_id));
INSERT INTO voltagent_memory_conversations VALUES('conv-1','agent','u-1','Chat','{}','2026-03-01T10:00:00.000Z','2026-03-01T10:00:00.000Z');
INSERT INTO voltagent_memory_messages VALUES('conv-1','m1','u-1','user','[{"type": "text", "text": "Look up a."}]','{}',2,'2026-03-01T10:00:01.000Z');
INSERT INTO voltagent_memory_messages VALUES('conv-1','m2','u-1','assistant','[{"type": "text", "text": "Found."}]','{}',2,'2026-03-01T10:00:02.000Z');
INSERT INTO voltagent_memory_messages VALUES('conv-1','m3','u-1','user','[{"type": "text", "text": "Go on."}]','{}',2,'2026-03-01T10:00:03.000Z');
