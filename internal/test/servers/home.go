package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// home is the directory of the servers that one test program shares. The program holds its lock until it ends
// in any way.
type home struct {
	dir  string
	lock *os.File
}

const (
	homePattern  = "locus-servers-*"
	unlockedHome = "locus-servers.new-*" // does not match homePattern
)

// makeHome creates a home in tmp, and removes the homes of programs that were killed, panicked or timed out.
func makeHome(tmp string) (home, error) {
	if err := sweep(tmp); err != nil {
		return home{}, err
	}
	dir, err := os.MkdirTemp(tmp, unlockedHome)
	if err != nil {
		return home{}, err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return home{}, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return home{}, errors.Join(fmt.Errorf("lock %s: %w", lock.Name(), err), lock.Close())
	}
	// The directory gets its final name after it is locked, so no other program sweeps it.
	final := filepath.Join(tmp, "locus-servers-"+filepath.Base(dir)[len(unlockedHome)-1:])
	return home{dir: final, lock: lock}, os.Rename(dir, final)
}

// sweep removes the homes of programs that have ended. Their servers died with them.
func sweep(tmp string) error {
	homes, err := filepath.Glob(filepath.Join(tmp, homePattern))
	if err != nil {
		return err
	}
	for _, dir := range homes {
		if err := removeIfDead(dir); err != nil {
			return fmt.Errorf("remove what an earlier test left: %w", err)
		}
	}
	return nil
}

func removeIfDead(dir string) error {
	lock, err := os.Open(filepath.Join(dir, "lock"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil // just removed, or another user's
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil // its program still runs
	}
	return os.RemoveAll(dir)
}
