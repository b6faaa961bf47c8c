CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES ('composerData:c1', '{"_v":10,"composerId":"c1","fullConversationHeadersOnly":[{"bubbleId":"b1","type":1},{"bubbleId":"b2","type":2},{"bubbleId":"b3","type":2},{"bubbleId":"b4","type":2},{"bubbleId":"b5","type":2},{"bubbleId":"b6","type":1}],"conversationMap":{},"status":"completed","modelConfig":{"modelName":"claude-4.5-sonnet","maxMode":false},"createdAt":1766691308486}');
INSERT INTO cursorDiskKV VALUES ('composerData:c0', '{"_v":10,"composerId":"c0","fullConversationHeadersOnly":[]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b1', '{"_v":3,"type":1,"bubbleId":"b1","text":"Look up both."}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b2', '{"_v":3,"type":2,"bubbleId":"b2","text":"I look."}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b3', '{"_v":3,"type":2,"bubbleId":"b3","text":"","toolFormerData":{"tool":15,"toolCallId":"toolu_1","status":"completed","name":"read_file","rawArgs":"{\"key\": \"a\"}","params":"{}","result":"one"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b4', '{"_v":3,"type":2,"bubbleId":"b4","text":"","toolFormerData":{"tool":15,"toolCallId":"call_2\nfc_2","status":"completed","name":"read_file","rawArgs":"{\"key\": \"b\"}","params":"{}","result":"two"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:c1:b6', '{"_v":3,"type":1,"bubbleId":"b6","text":"And now?"}');
