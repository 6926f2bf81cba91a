package dbserver

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// Options configure one server. The zero value of each field except Dir is valid.
type Options struct {
	Dir        string   // the server's own directory; created and initialised if it is new
	Port       int      // on 127.0.0.1; 0 chooses a free port
	BufferPool int64    // size of InnoDB's buffer pool in bytes; 0 means 128 MiB
	Args       []string // further options of the server; they come last, so they override others
	// Templates is a directory with freshly initialised data directories, one per version of a server. A new
	// server gets a copy instead of being initialised. This suits servers that are made often and thrown away,
	// because a copy is not flushed to disk. The directory is created if it is missing, and many processes may
	// share it. If Templates is empty, each server is initialised.
	Templates string
}

const (
	defaultBufferPool = 128 << 20

	// redoLog is the size of InnoDB's redo log: small enough to be copied with every template, large enough for
	// a demo's load.
	redoLog = 64 << 20
)

// serving returns the options of a server that serves from a data directory. They include the requirements of jobs that move
// rows: full row images in the binary log, GTIDs, and a unique server ID.
func (i *Installation) serving(d *directory, data string, port int, bufferPool int64) []string {
	args := append(i.common(d, data),
		"--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(port),
		// Host names are not resolved: an account is for %, or, through the socket, for localhost.
		"--skip-name-resolve",
		"--max-connections=500",
		"--innodb-buffer-pool-size="+strconv.FormatInt(bufferPool, 10),
		"--performance-schema=OFF",
		"--character-set-server=utf8mb4",
		fmt.Sprintf("--server-id=%d", serverID(d.path)),
		"--log-bin=binlog",
		"--binlog-row-image=FULL",
		"--sync-binlog=1", // not MariaDB's default
		"--ssl-ca="+d.file("tls/"+authorityFile),
		"--ssl-cert="+d.file("tls/"+certificateFile),
		"--ssl-key="+d.file("tls/"+keyFile),
	)
	if i.Engine == MariaDB {
		return append(args, "--binlog-format=ROW") // MySQL 9 has no other format; MariaDB always has GTIDs
	}
	return append(args,
		"--gtid-mode=ON",
		"--enforce-gtid-consistency=ON",
		"--auto-generate-certs=OFF",
		"--mysqlx=OFF",
		"--innodb-log-buffer-size=16M", // instead of the default of 64 MiB, which MySQL allocates at once
	)
}

// common returns the options that are the same for initialising a data directory and for every later run.
func (i *Installation) common(d *directory, data string) []string {
	args := append(asUser(),
		"--datadir="+data,
		"--socket="+d.socket,
		"--pid-file="+d.file("server.pid"),
		"--tmpdir="+d.file("tmp"),
	)
	if i.Engine == MariaDB {
		return append(args, fmt.Sprintf("--innodb-log-file-size=%d", redoLog))
	}
	return append(args,
		fmt.Sprintf("--innodb-redo-log-capacity=%d", redoLog),
		"--secure-file-priv=NULL", // the built-in directory may not exist
	)
}

// serverID derives the server's ID in replication from its directory, so that it stays the same after a restart
// on another port. Zero is not allowed.
func serverID(dir string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir)) // never fails
	return max(hash.Sum32(), 1)
}
