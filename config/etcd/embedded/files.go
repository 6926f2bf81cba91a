package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lock locks the directory, because a second server on the same data would wait for the first silently. The kernel
// releases the lock when the process dies.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another process uses this directory (%s: %w)", path, err)
	}
	return f, nil
}

// logLimit bounds the log. A longer one is renamed to .old at the next start.
const logLimit = 10 << 20

func openLog(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// logger writes warnings to the file. A fatal error also goes to last, in words of ours, so that it isn't hidden in a file. dir is the
// directory of the data.
func logger(file *os.File, dir string, last io.Writer, exit func(status int)) *zap.Logger {
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime = zapcore.RFC3339TimeEncoder
	panics := zap.LevelEnablerFunc(func(l zapcore.Level) bool { return l == zap.DPanicLevel || l == zap.PanicLevel })
	return zap.New(zapcore.NewTee(
		zapcore.NewCore(zapcore.NewJSONEncoder(form), zapcore.Lock(file), zap.WarnLevel),
		zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(zapcore.AddSync(last)), panics),
	), zap.WithFatalHook(&farewell{dir, last, exit}))
}

// farewell reports why the server ends the process.
type farewell struct {
	dir  string
	last io.Writer
	exit func(status int)
}

// OnWrite implements zapcore.CheckWriteHook.
func (f *farewell) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	_, _ = fmt.Fprintln(f.last, "locus: "+f.reason(entry.Message, fields))
	f.exit(1)
}

// reason words a fatal error. A disk without room has a remedy.
func (f *farewell) reason(message string, fields []zapcore.Field) string {
	for _, field := range fields {
		err, is := field.Interface.(error)
		switch {
		case !is:
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG), strings.Contains(err.Error(), syscall.ENOSPC.Error()):
			return fmt.Sprintf("the disk of %s is full, and etcd can't write to it: %v; this process ends, and acknowledged writes are kept: free space there and start it again", f.dir, err)
		default:
			return fmt.Sprintf("etcd in %s can't go on: %s: %v; this process ends: see etcd.log there", f.dir, message, err)
		}
	}
	return fmt.Sprintf("etcd in %s can't go on: %s; this process ends: see etcd.log there", f.dir, message)
}
