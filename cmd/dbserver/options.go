package dbserver

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// Options say how one server runs. The zero value of each field but Dir has a
// meaning.
type Options struct {
	Dir        string   // the server's own directory; made and initialised if it is new, continued if not
	Port       int      // on 127.0.0.1; 0 takes a free one
	BufferPool int64    // InnoDB's, in bytes; 0 is 128 MiB
	Args       []string // further options of the server; they come last and so win
	// Templates is a directory of freshly initialised data directories, one per
	// version of a server, that a new server's is copied from instead of being
	// initialised: for servers that are made often and thrown away, since a copy
	// is not flushed to the disk. It is made if it is missing, and many processes
	// may share it. Empty initialises afresh.
	Templates string
}

const (
	defaultBufferPool = 128 << 20

	// redoLog is the size of InnoDB's redo log: small enough to be copied with
	// every template, large enough for a demo's load.
	redoLog = 64 << 20
)

// serving are the options of a server that serves from a data directory. What a
// move of rows needs is on from the start: whole row images in the binary log,
// GTIDs, and a server ID that no other has.
func (i *Installation) serving(d *directory, data string, port int, bufferPool int64) []string {
	args := append(i.common(d, data),
		"--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(port),
		// Names of hosts are not looked up: an account is for % or, through the socket, for localhost.
		"--skip-name-resolve",
		"--max-connections=500",
		"--innodb-buffer-pool-size="+strconv.FormatInt(bufferPool, 10),
		"--performance-schema=OFF",
		"--character-set-server=utf8mb4",
		fmt.Sprintf("--server-id=%d", serverID(d.path)),
		"--log-bin=binlog",
		"--binlog-row-image=FULL",
		"--sync-binlog=1", // which is not MariaDB's default
		"--ssl-ca="+d.file("tls/"+authorityFile),
		"--ssl-cert="+d.file("tls/"+certificateFile),
		"--ssl-key="+d.file("tls/"+keyFile),
	)
	if i.Engine == MariaDB {
		return append(args, "--binlog-format=ROW") // MySQL 9 has no other; MariaDB always has GTIDs
	}
	return append(args,
		"--gtid-mode=ON",
		"--enforce-gtid-consistency=ON",
		"--auto-generate-certs=OFF",
		"--mysqlx=OFF",
		"--innodb-log-buffer-size=16M", // not its 64 MiB, all of which it takes at the start
	)
}

// common are the options that a data directory is initialised with and those of
// every later run alike.
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
		"--secure-file-priv=NULL", // its directory was fixed when it was built, and may not exist
	)
}

// serverID is a server's own number in replication, from its directory, so that
// it is the same after a restart on another port. Zero is not allowed.
func serverID(dir string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(dir)) // never fails
	return max(hash.Sum32(), 1)
}
