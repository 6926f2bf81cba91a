//go:build linux || darwin || freebsd

package fleet

import "golang.org/x/sys/unix"

// Disk is the file system that has a directory of a process. Total and Available are in bytes; the latter is what a user without privileges
// may write.
type Disk struct {
	Dir       string `json:"dir"`
	Total     uint64 `json:"total"`
	Available uint64 `json:"available"`
}

// DiskOf returns the file system that has a directory. Its size is 0 if the directory can't be read.
func DiskOf(dir string) Disk {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Disk{Dir: dir}
	}
	return Disk{dir, s.Blocks * uint64(s.Bsize), uint64(s.Bavail) * uint64(s.Bsize)}
}
