// Package packages tests a release: that two builds of a commit are equal, what its files contain, and that its packages can be installed,
// run, upgraded and removed in a new Debian. It runs the commands of docs/how-to/install-packages.md. It has no code that ships.
//
// It is no service manager: it repeats the work of systemd for the unit with unshare, setpriv and mounts, as far as these can.
package packages
