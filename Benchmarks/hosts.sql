-- What one approval does in the database: the decision, then the delivery, each a database transaction of its own, as
-- an agent's are seen with log_statement = all. Each client of pgbench is a host with a chain and an enrollment.
\set n :n + 1
\set head :head + 4
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
UPDATE host SET last_write = :n WHERE name = 'b' || :client_id
    RETURNING incarnation, CAST(floor(extract(EPOCH FROM clock_timestamp())) AS BIGINT);
SELECT name, seq, digest, signature, rows FROM journal_mark WHERE host = 'b' || :client_id AND name = 'head';
SELECT name, seq, digest, signature, rows FROM journal_mark WHERE host = 'b' || :client_id AND name = 'floor';
SELECT seq, entry FROM journal WHERE host = 'b' || :client_id AND seq > :head ORDER BY seq LIMIT 2;
SELECT 1 FROM enrollment WHERE id = (SELECT enrollment_id FROM request WHERE id = :client_id || '-' || :n) FOR UPDATE;
SELECT request.*, enrollment.*, (SELECT bytes FROM evidence WHERE piece = request.message_piece),
    (SELECT bytes FROM evidence WHERE piece = request.text_piece), (SELECT sealed FROM data_key WHERE data_key.enrollment_id = request.enrollment_id)
    FROM request JOIN enrollment ON enrollment.id = request.enrollment_id
    LEFT JOIN key_tries ON key_tries.identity = enrollment.key_identity WHERE request.id = :client_id || '-' || :n;
UPDATE enrollment SET sign_count = :n, journal_seq = :head, journal_host = 'b' || :client_id, seal = credential_key
    WHERE id = 'b' || :client_id;
INSERT INTO journal (host, seq, entry) VALUES ('b' || :client_id, :head + 1, repeat('x', 400));
INSERT INTO journal (host, seq, entry) VALUES ('b' || :client_id, :head + 2, repeat('x', 250));
SELECT 1 FROM enrollment WHERE id = 'b' || :client_id FOR UPDATE;
UPDATE request SET decided_at = 1, state = 'approved', delivery = 'queued', queue_place = :n WHERE id = :client_id || '-' || :n;
INSERT INTO evidence (bytes) VALUES (convert_to(repeat('x', 900), 'UTF8'));
UPDATE request SET decision_piece = currval(pg_get_serial_sequence('evidence', 'piece')) WHERE id = :client_id || '-' || :n;
INSERT INTO journal_mark (host, name, seq, digest, signature, rows)
    VALUES ('b' || :client_id, 'head', :head + 2, '\x00', '\x00', decode(repeat('00', 61), 'hex')) ON CONFLICT (host, name)
    DO UPDATE SET seq = excluded.seq, digest = excluded.digest, signature = excluded.signature, rows = excluded.rows;
COMMIT;
SELECT request.id, request.enrollment_id, request.jti, request.received_at, request.exp, request.state, request.queue_place,
    request.traceparent, request.delivery_error, (SELECT bytes FROM evidence WHERE piece = request.decision_piece),
    (SELECT sealed FROM data_key WHERE data_key.enrollment_id = request.enrollment_id)
    FROM request
    WHERE state = 'approved' AND delivery = 'queued' AND enrollment_id = 'b' || :client_id ORDER BY queue_place LIMIT 1;
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
UPDATE host SET last_write = :n WHERE name = 'b' || :client_id
    RETURNING incarnation, CAST(floor(extract(EPOCH FROM clock_timestamp())) AS BIGINT);
SELECT name, seq, digest, signature, rows FROM journal_mark WHERE host = 'b' || :client_id AND name = 'head';
SELECT name, seq, digest, signature, rows FROM journal_mark WHERE host = 'b' || :client_id AND name = 'floor';
SELECT seq, entry FROM journal WHERE host = 'b' || :client_id AND seq > :head + 2 ORDER BY seq LIMIT 2;
SELECT 1 FROM enrollment WHERE id = 'b' || :client_id FOR UPDATE;
SELECT 1 FROM request WHERE id = :client_id || '-' || :n AND delivery = 'queued';
INSERT INTO journal (host, seq, entry) VALUES ('b' || :client_id, :head + 3, repeat('x', 350));
INSERT INTO journal (host, seq, entry) VALUES ('b' || :client_id, :head + 4, repeat('x', 300));
SELECT request.*, enrollment.*, (SELECT bytes FROM evidence WHERE piece = request.message_piece),
    (SELECT bytes FROM evidence WHERE piece = request.text_piece), (SELECT sealed FROM data_key WHERE data_key.enrollment_id = request.enrollment_id)
    FROM request JOIN enrollment ON enrollment.id = request.enrollment_id
    LEFT JOIN key_tries ON key_tries.identity = enrollment.key_identity WHERE request.id = :client_id || '-' || :n;
UPDATE request SET delivery = 'delivered', trans_status = 'Y' WHERE id = :client_id || '-' || :n;
INSERT INTO journal_mark (host, name, seq, digest, signature, rows)
    VALUES ('b' || :client_id, 'head', :head + 4, '\x00', '\x00', decode(repeat('00', 61), 'hex')) ON CONFLICT (host, name)
    DO UPDATE SET seq = excluded.seq, digest = excluded.digest, signature = excluded.signature, rows = excluded.rows;
COMMIT;
