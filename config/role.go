package config

// Role is a set of permissions over HTTP.
type Role string

// The roles.
const (
	Viewer Role = "viewer" // can see everything
	Admin  Role = "admin"  // can also change moves and profile the process
)
