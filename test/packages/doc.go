// Package packages tests a release: that two builds of a commit are equal, what its files contain, and that its packages can be installed,
// run, upgraded and removed in a new Debian. It runs the commands of docs/how-to/install-packages.md, and then those of other how-to pages, as an
// operator who has the package and the documents alone. It has no code that ships.
//
// It starts no service manager: unshare, setpriv and mounts give the service what they can of the environment that systemd would.
package packages
