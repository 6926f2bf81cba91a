package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/zap"
)

// TestFatalErrorsAreWorded reports why the server ends the process in one line, and what to do about a full disk.
func TestFatalErrorsAreWorded(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/d/data/member/wal/0.wal", Err: syscall.ENOSPC}
	for _, test := range []struct {
		err  error
		want string
	}{
		{full, "locus: the disk of /d is full, and etcd can't write to it: write /d/data/member/wal/0.wal: no space left on device; this process ends"},
		{fmt.Errorf("save: %w", syscall.EDQUOT), "locus: the disk of /d is full"},
		{errors.New("commit: write x: no space left on device"), "locus: the disk of /d is full"},
		{errors.New("input/output error"), "locus: etcd in /d can't go on: failed to save: input/output error; this process ends: see etcd.log there"},
		{nil, "locus: etcd in /d can't go on: failed to save; this process ends: see etcd.log there"},
	} {
		file, err := os.Create(filepath.Join(t.TempDir(), "etcd.log"))
		if err != nil {
			t.Fatal(err)
		}
		var last bytes.Buffer
		status := 0
		var fields []zap.Field
		if test.err != nil {
			fields = []zap.Field{zap.String("of", "wal"), zap.Error(test.err)}
		}
		logger(file, "/d", &last, func(s int) { status = s }).Fatal("failed to save", fields...)
		if got := last.String(); !strings.HasPrefix(got, test.want) || strings.Count(got, "\n") != 1 || status != 1 {
			t.Errorf("%v: status %d, %q, want %q", test.err, status, got, test.want)
		}
		if text, err := os.ReadFile(file.Name()); err != nil || !bytes.Contains(text, []byte("failed to save")) {
			t.Errorf("the log is %q, %v", text, err)
		}
		_ = file.Close()
	}
}
