package scatter

import (
	"errors"
	"testing"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

func TestWritten(t *testing.T) {
	ok, _ := wire.AppendOK(nil, 1, wire.OK{AffectedRows: 3, Warnings: 1, Status: 2, Info: []byte("Records: 3")}, backend.Capabilities)
	more, _ := wire.AppendOK(nil, 1, wire.OK{Status: 8}, backend.Capabilities)
	for name, c := range map[string]struct {
		answer []byte
		code   uint16
		lost   bool
	}{
		"OK":            {ok, 0, false},
		"an error":      {errorAnswer(1062), 1062, false},
		"rows":          {texts(1, 1), 0, true},
		"more than one": {more, 0, true},
		"an end":        {ok[:8], 0, true},
	} {
		s := newShard("s0", c.answer, anyChunk, true)
		got, err := written(s)
		s.close()
		_, lost := errors.AsType[*backend.LostError](err)
		if code(err) != c.code || lost != c.lost || s.lost != c.lost {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (got.AffectedRows != 3 || string(got.Info) != "Records: 3") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
