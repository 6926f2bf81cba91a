package trust

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
)

// pipe sends many texts to a server before it reads the first answer, so that a text costs only the server's
// own time.
type pipe struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

// said is the answer to one text: the bytes of the rows of all results, without column names, or an error.
type said struct {
	rows    []byte
	results int
	columns int
	code    uint16 // 0: no error
	message string
}

func (s said) String() string {
	if s.code != 0 {
		return fmt.Sprintf("%d results %q, then error %d %s", s.results, s.rows, s.code, s.message)
	}
	return fmt.Sprintf("%d results, %d columns %q", s.results, s.columns, s.rows)
}

func (a said) equal(b said) bool {
	return a.code == b.code && a.columns == b.columns && string(a.rows) == string(b.rows)
}

func (l login) pipe(t testing.TB) *pipe {
	t.Helper()
	c := l.open(t, "pipe")
	return &pipe{conn: c.Conn.Conn.Conn, in: bufio.NewReaderSize(c.Conn.Conn.Conn, 64<<10)}
}

const comQuery = 3

// ask returns the answers to texts, in order.
func (p *pipe) ask(texts ...string) ([]said, error) {
	p.out = p.out[:0]
	for _, text := range texts {
		n := len(text) + 1
		p.out = append(p.out, byte(n), byte(n>>8), byte(n>>16), 0, comQuery)
		p.out = append(p.out, text...)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := p.conn.Write(p.out)
		failed <- err
	}()
	answers := make([]said, 0, len(texts))
	for range texts {
		a, err := p.answer()
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, <-failed
}

// fan is several connections that share texts out among them, and ask all at once.
type fan []*pipe

func (f fan) ask(texts ...string) ([]said, error) {
	answers, failed := make([]said, len(texts)), make([]error, len(f))
	var group sync.WaitGroup
	for k, p := range f {
		group.Go(func() {
			var own []string
			for i := k; i < len(texts); i += len(f) {
				own = append(own, texts[i])
			}
			got, err := p.ask(own...)
			for j, a := range got {
				answers[k+j*len(f)] = a
			}
			failed[k] = err
		})
	}
	group.Wait()
	return answers, errors.Join(failed...)
}

// all runs one text on each connection, and returns the first error.
func (f fan) all(text string) error {
	answers, err := f.ask(slices.Repeat([]string{text}, len(f))...)
	for _, a := range answers {
		if err == nil && a.code != 0 {
			err = fmt.Errorf("%v", a)
		}
	}
	return err
}

func (p *pipe) packet() ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(p.in, header[:]); err != nil {
		return nil, err
	}
	body := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(p.in, body)
	return body, err
}

const (
	okPacket, eofPacket, errPacket = 0x00, 0xfe, 0xff
	moreResults                    = 0x0008
)

func (p *pipe) answer() (a said, err error) {
	for more := true; more; {
		more, err = p.result(&a)
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// result reads one result and reports whether another one follows.
func (p *pipe) result(a *said) (more bool, err error) {
	first, err := p.packet()
	switch {
	case err != nil:
		return false, err
	case first[0] == errPacket:
		a.fail(first)
		return false, nil
	case first[0] == okPacket:
		a.results++
		_, n := lengthEncoded(first[1:])
		_, m := lengthEncoded(first[1+n:])
		return binary.LittleEndian.Uint16(first[1+n+m:])&moreResults != 0, nil
	}
	a.results++
	columns, _ := lengthEncoded(first)
	a.columns += columns
	for range columns + 1 { // and what ends them
		if _, err := p.packet(); err != nil {
			return false, err
		}
	}
	for {
		row, err := p.packet()
		switch {
		case err != nil:
			return false, err
		case row[0] == errPacket:
			a.fail(row)
			return false, nil
		case row[0] == eofPacket && len(row) < 9:
			a.rows = append(a.rows, ';')
			return binary.LittleEndian.Uint16(row[3:])&moreResults != 0, nil
		}
		a.rows = append(append(a.rows, row...), '\n')
	}
}

func (a *said) fail(packet []byte) {
	a.code = binary.LittleEndian.Uint16(packet[1:])
	a.message = string(packet[9:])
}

func lengthEncoded(b []byte) (value, length int) {
	switch b[0] {
	case 0xfc:
		return int(b[1]) | int(b[2])<<8, 3
	case 0xfd:
		return int(b[1]) | int(b[2])<<8 | int(b[3])<<16, 4
	case 0xfe:
		return int(binary.LittleEndian.Uint64(b[1:])), 9
	}
	return int(b[0]), 1
}
