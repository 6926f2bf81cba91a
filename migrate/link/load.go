package link

import (
	"context"
	"errors"
	"iter"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// localInfile is the first byte of the packet by which a server requests a client's file.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_local_infile_request.html
const localInfile = 0xfb

// Load runs a LOAD DATA LOCAL, and sends the pieces as the file. Sending a piece overwrites it. A piece may end
// anywhere in a line, and may be as long as the server's greatest packet. LOCAL turns values that don't fit,
// and duplicate keys, into warnings.
func (c *Conn) Load(ctx context.Context, sql string, file iter.Seq[Statement]) (o Outcome, err error) {
	err = c.guard(ctx, func() error {
		head, err := c.ask(mysql.COM_QUERY, sql)
		switch {
		case err != nil:
			return err
		case head[0] != localInfile:
			return errors.New("the server does not ask for the file of LOAD DATA LOCAL")
		}
		const header = 4
		for piece := range file {
			if err := c.c.WritePacket(piece[Room-header:]); err != nil {
				return err
			}
		}
		if err := c.c.WritePacket(make([]byte, header)); err != nil { // the end of the file
			return err
		}
		o, err = c.readOK()
		return err
	})
	return o, err
}
