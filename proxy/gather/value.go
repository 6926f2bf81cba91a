package gather

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/proxy/wire"
)

// append writes a value as a literal. warns reports that the server will warn about it although the value is unchanged.
func (c Column) append(out, value []byte) (_ []byte, warns bool, err error) {
	if value == nil {
		return append(out, "NULL"...), false, nil
	}
	if c.kind != text && c.kind != octets && c.kind != json {
		value = wire.NarrowNumber(value)
	}
	switch c.kind {
	case number, bits:
		return append(out, value...), false, nil
	case member:
		return append(out, value...), string(value) == "0", nil
	case double:
		out = append(out, value...)
		if !bytes.ContainsAny(value, "eE") {
			out = append(out, "e0"...)
		}
		return out, false, nil
	case instant:
		out, err = appendInstant(out, string(value))
		return out, false, err
	case temporal:
		return append(append(append(out, '\''), value...), '\''), false, nil
	case json:
		return append(appendHex(append(out, "CONVERT("...), value), " USING utf8mb4)"...), false, nil
	case text, octets:
	}
	return appendHex(out, value), false, nil
}

func appendHex(out, value []byte) []byte {
	out = append(out, "x'"...)
	out = hex.AppendEncode(out, value)
	return append(out, '\'')
}

// appendInstant writes seconds since 1970 as a time in UTC. A zero date reads as 0.
func appendInstant(out []byte, value string) ([]byte, error) {
	whole, fraction, _ := strings.Cut(value, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time %q: %w", value, err)
	}
	if n == 0 {
		return append(out, "'0000-00-00 00:00:00'"...), nil
	}
	out = time.Unix(n, 0).UTC().AppendFormat(append(out, '\''), "2006-01-02 15:04:05")
	if fraction != "" {
		out = append(append(out, '.'), fraction...)
	}
	return append(out, '\''), nil
}
