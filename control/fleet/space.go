//go:build linux || darwin || freebsd

package fleet

import "golang.org/x/sys/unix"

// Disk is the size of the file system that contains a directory. Total and Available are in bytes. Available is the space that a user
// without privileges may use.
type Disk struct {
	Dir       string `json:"dir"`
	Total     uint64 `json:"total"`
	Available uint64 `json:"available"`
}

// DiskOf returns the size of the file system that contains a directory. Its size is 0 if the directory can't be read.
func DiskOf(dir string) Disk {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Disk{Dir: dir}
	}
	return Disk{dir, s.Blocks * uint64(s.Bsize), uint64(s.Bavail) * uint64(s.Bsize)}
}
