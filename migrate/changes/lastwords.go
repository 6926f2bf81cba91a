package changes

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"

	"locus/migrate/link"
)

// Word is the last that a log has of an XA branch.
type Word uint8

const (
	Silent     Word = iota // the log does not contain the branch
	Prepared               // the transaction's rows, and its XA PREPARE
	Committed              // its XA COMMIT
	RolledBack             // its XA ROLLBACK
)

// LogFile is a file of a server's binary log.
type LogFile struct {
	Name string
	Size uint64 // in bytes
}

// LastWords searches for branches in a MariaDB server's binary log, from the last of its files backwards, until
// it has found all of them or read all files. Branches have the form that statements in the log use:
// X'67',X'62',1, in lower case. Branches that the log does not contain are missing in the result. It decodes no
// rows, and reads as fast as the server sends.
func LastWords(ctx context.Context, server link.Server, files []LogFile, branches []string) (map[string]Word, error) {
	found := map[string]Word{}
	for i := len(files) - 1; i >= 0 && len(found) < len(branches); i-- {
		words := map[string]Word{}
		for _, b := range branches {
			if _, known := found[b]; !known {
				words[b] = Silent
			}
		}
		if err := listen(ctx, server, files[i], words); err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].Name, err)
		}
		for b, word := range words {
			if word != Silent {
				found[b] = word
			}
		}
	}
	return found, nil
}

// listen records the last events of branches in one file.
func listen(ctx context.Context, server link.Server, file LogFile, words map[string]Word) error {
	return readFile(ctx, server, file, func(e *replication.BinlogEvent) (bool, error) {
		v, ok := e.Event.(*replication.GenericEvent)
		if !ok {
			return false, nil
		}
		return false, note(e.Header.EventType, v.Data, words)
	})
}

// readFile passes the events of one file to take, up to the file's known size, until take returns true. The
// events are not decoded, except for those that describe the file.
func readFile(ctx context.Context, server link.Server, file LogFile, take func(*replication.BinlogEvent) (enough bool, err error)) error {
	config, err := plainLog(server, link.MariaDB)
	if err != nil {
		return err
	}
	config.RawModeEnabled = true
	syncer := replication.NewBinlogSyncer(config)
	defer syncer.Close()
	streamer, err := syncer.StartSync(mysql.Position{Name: file.Name, Pos: firstEvent})
	if err != nil {
		return err
	}
	for {
		e, err := streamer.GetEvent(ctx)
		if err != nil {
			return err
		}
		if v, ok := e.Event.(*replication.RotateEvent); ok && string(v.NextLogName) != file.Name {
			return nil
		}
		if enough, err := take(e); err != nil || enough {
			return err
		}
		if idle := e.Header.EventType == replication.HEARTBEAT_EVENT; idle || uint64(e.Header.LogPos) >= file.Size {
			return nil
		}
	}
}

// note records an event of one of the branches.
func note(kind replication.EventType, data []byte, words map[string]Word) error {
	switch kind {
	case replication.XA_PREPARE_LOG_EVENT:
		onePhase, xid, err := parsePrepared(data)
		if err != nil {
			return err
		}
		if _, wanted := words[xid]; wanted {
			if words[xid] = Prepared; onePhase {
				words[xid] = Committed
			}
		}
	case replication.QUERY_EVENT:
		if !bytes.Contains(data, []byte("XA ")) { // any other, of any size
			return nil
		}
		var q replication.QueryEvent
		if err := q.Decode(data); err != nil {
			return err
		}
		s := read(string(q.Schema), string(q.Query))
		if s.word(0) != "XA" {
			return nil
		}
		word := map[string]Word{"COMMIT": Committed, "ROLLBACK": RolledBack}[s.word(1)]
		if _, wanted := words[s.xid()]; wanted && word != Silent {
			words[s.xid()] = word
		}
	default:
	}
	return nil
}
