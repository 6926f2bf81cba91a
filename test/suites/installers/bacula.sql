-- As Bacula's director sends them.
SELECT VersionId FROM Version;
INSERT INTO Client (Name, Uname, AutoPrune, FileRetention, JobRetention) VALUES ('host-fd', '9.6.7', 1, 5184000, 15552000);
INSERT INTO FileSet (FileSet, MD5, CreateTime) VALUES ('Full', 'abc', '2026-01-02 03:04:05');
INSERT INTO Job (Job, Name, Type, Level, JobStatus, SchedTime, JobTDate, ClientId, FileSetId, Comment) VALUES ('nightly.2026', 'nightly', 'B', 'F', 'C', '2026-01-02 03:04:05', 1767323045, 1, 1, '');
SELECT LAST_INSERT_ID();
CREATE TEMPORARY TABLE batch (FileIndex integer, JobId integer, Path blob, Name blob, LStat tinyblob, MD5 tinyblob, DeltaSeq integer);
INSERT INTO batch VALUES (1, 1, '/etc/', 'passwd', 'x', 'm1', 0), (2, 1, '/etc/', 'group', 'x', 'm2', 0), (3, 1, '/home/', '.profile', 'x', 'm3', 0);
LOCK TABLES Path write, batch write, Path as p write;
INSERT INTO Path (Path) SELECT a.Path FROM (SELECT DISTINCT Path FROM batch) AS a WHERE NOT EXISTS (SELECT Path FROM Path AS p WHERE p.Path = a.Path);
UNLOCK TABLES;
LOCK TABLES Filename write, batch write, Filename as f write;
INSERT INTO Filename (Name) SELECT a.Name FROM (SELECT DISTINCT Name FROM batch) AS a WHERE NOT EXISTS (SELECT Name FROM Filename AS f WHERE f.Name = a.Name);
UNLOCK TABLES;
INSERT INTO File (FileIndex, JobId, PathId, FilenameId, LStat, MD5, DeltaSeq) SELECT batch.FileIndex, batch.JobId, Path.PathId, Filename.FilenameId, batch.LStat, batch.MD5, batch.DeltaSeq FROM batch JOIN Path ON (batch.Path = Path.Path) JOIN Filename ON (batch.Name = Filename.Name);
DROP TABLE batch;
UPDATE Job SET JobStatus = 'T', EndTime = '2026-01-02 03:10:00', JobFiles = 3, JobBytes = 4096 WHERE JobId = 1;
SELECT Path.Path, Filename.Name, File.FileIndex FROM File JOIN Path USING (PathId) JOIN Filename USING (FilenameId) WHERE File.JobId = 1 ORDER BY File.FileIndex;
SELECT JobId, Name, JobStatus, JobFiles FROM Job ORDER BY JobId DESC LIMIT 10;
