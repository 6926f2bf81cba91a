package config

import (
	"fmt"
	"net"
	"strconv"
	"time"
)

// problems collects errors, each beginning with the field's path.
type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...)))
}

func (p *problems) address(field, hostPort string) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		p.add(field, "%q isn't host:port", hostPort)
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		p.add(field, "%q: the port is a number up to 65535", hostPort)
	}
	if host == "" {
		p.add(field, "%q: name the host; 0.0.0.0 is every address of this machine", hostPort)
	}
}

func (p *problems) positive(field string, d Duration) {
	if d < Duration(time.Millisecond) {
		p.add(field, "%s: use 1ms or more", d)
	}
}

func (p *problems) notNegative(field string, d Duration) {
	if d < 0 {
		p.add(field, "%s: use 0s or more", d)
	}
}

func (p *problems) atLeast(field string, n, least int) {
	if n < least {
		p.add(field, "%d: use %d or more", n, least)
	}
}

func (p *problems) size(field string, s, least, most Size) {
	if s < least || s > most {
		p.add(field, "%s: use %s to %s", s, least, most)
	}
}
