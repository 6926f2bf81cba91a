package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
		return nil, fmt.Errorf("another process runs on this directory (%s: %w)", path, err)
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

// logger writes warnings to the file. Fatal errors also go to standard error, so that they aren't hidden in a file.
func logger(file *os.File) *zap.Logger {
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime = zapcore.RFC3339TimeEncoder
	return zap.New(zapcore.NewTee(
		zapcore.NewCore(zapcore.NewJSONEncoder(form), zapcore.Lock(file), zap.WarnLevel),
		zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(os.Stderr), zap.DPanicLevel),
	))
}
