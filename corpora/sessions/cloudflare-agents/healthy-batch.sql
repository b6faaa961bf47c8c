CREATE TABLE cf_agents_state (id TEXT PRIMARY KEY NOT NULL, state TEXT);
CREATE TABLE cf_ai_chat_agent_messages (id text primary key, message text not null, created_at datetime default current_timestamp);
INSERT INTO cf_ai_chat_agent_messages VALUES('m1','{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Look up both."}]}','2026-06-20 07:00:01');
INSERT INTO cf_ai_chat_agent_messages VALUES('m2','{"id": "m2", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "text", "text": "I look."}, {"type": "tool-find", "toolCallId": "toolu_1", "state": "output-available", "input": {"key": "a"}, "output": "one"}, {"type": "tool-find", "toolCallId": "toolu_2", "state": "output-error", "input": {"key": "a"}, "errorText": "no"}, {"type": "step-start"}, {"type": "text", "text": "Found."}]}','2026-06-20 07:00:02');
INSERT INTO cf_ai_chat_agent_messages VALUES('m3','{"id": "m3", "role": "user", "parts": [{"type": "text", "text": "Go on."}]}','2026-06-20 07:00:03');
