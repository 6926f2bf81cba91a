package etcd_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"locus/config/etcd"
)

func TestAPasswordCanBeChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	s := server(t)
	admin := secure(t, s.Endpoint(), "first")
	var password atomic.Pointer[string]
	set := func(p string) { password.Store(&p) }
	set("wrong")
	kv := open(t, etcd.Config{
		Endpoints: []string{s.Endpoint()}, Username: "root",
		Password: func() (string, error) { return *password.Load(), nil },
	}).Under("p/")

	if _, _, err := kv.Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "authentication failed") {
		t.Fatalf("wrong password: %v", err)
	}
	set("first")
	changes := kv.Changes(t.Context(), commit(t, kv, nil, etcd.Put("k", nil)))
	await(t, changes, commit(t, kv, nil, etcd.Put("k", nil)))

	if _, err := admin.UserChangePassword(t.Context(), "root", "second"); err != nil {
		t.Fatal(err)
	}
	_, err := kv.Commit(t.Context(), nil, etcd.Put("k", nil)) // the login has become invalid
	if err == nil || !strings.Contains(err.Error(), rpctypes.ErrAuthFailed.Error()) || !strings.Contains(err.Error(), "nothing was written") {
		t.Fatalf("old password: %v", err)
	}
	set("second")
	await(t, changes, commit(t, kv, nil, etcd.Put("k", nil)))
}

// secure makes a server ask for a password.
func secure(t *testing.T, endpoint, password string) *clientv3.Client {
	t.Helper()
	admin := raw(t, clientv3.Config{Endpoints: []string{endpoint}})
	if _, err := admin.UserAdd(t.Context(), "root", password); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return raw(t, clientv3.Config{Endpoints: []string{endpoint}, Username: "root", Password: password})
}
