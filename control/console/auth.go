package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"html/template"
	"net/http"
	"net/netip"
	"strings"

	"locus/config"
	"locus/proxy/handshake"
)

// Account is an account for logins. Password is called at every login.
type Account struct {
	User     string
	Role     config.Role
	Password func() (string, error)
}

// identity is the user of a request.
type identity struct {
	user string
	role config.Role
}

// may reports whether the role suffices for a request that needs another.
func (i identity) may(needed config.Role) bool { return i.role == config.Admin || i.role == needed }

// auth authenticates users by a session's cookie or by HTTP basic authentication.
type auth struct {
	accounts []Account
	attempts *handshake.Attempts
	visits   *visits
	secure   bool
	version  string
}

func newAuth(o Options) *auth {
	return &auth{
		accounts: o.Accounts, attempts: handshake.NewAttempts(o.Now), visits: newVisits(o.Now), secure: o.Secure, version: o.Version,
	}
}

// check verifies a password. The answer to a wrong one is delayed, and with too many at once the address is refused.
func (d *auth) check(r *http.Request, user, password string) (identity, int) {
	addr := addressOf(r)
	if d.attempts.Blocked(addr) {
		return identity{}, http.StatusTooManyRequests
	}
	if who, right := d.right(user, password); right {
		d.attempts.Passed(user)
		return who, http.StatusOK
	}
	d.attempts.Punish(context.WithoutCancel(r.Context()), addr, user) // disconnecting doesn't allow more attempts
	return identity{}, http.StatusUnauthorized
}

// right compares with every account, so that its duration doesn't reveal which users exist.
func (d *auth) right(user, password string) (found identity, is bool) {
	for _, a := range d.accounts {
		known, err := a.Password()
		if err != nil || known == "" {
			continue
		}
		if same(user, a.User)&same(password, known) == 1 {
			found, is = identity{a.User, a.Role}, true
		}
	}
	return found, is
}

// same takes the same time regardless of the lengths.
func same(a, b string) int {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:])
}

func addressOf(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return handshake.CountedFor(at.Addr())
}

type identityKey struct{}

// who returns the user that guard admitted.
func who(r *http.Request) identity {
	i, _ := r.Context().Value(identityKey{}).(identity)
	return i
}

// guard admits users with a role.
func (d *auth) guard(needed config.Role, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, known := d.visits.of(r)
		if user, password, basic := r.BasicAuth(); !known && basic {
			var status int
			if i, status = d.check(r, user, password); status == http.StatusTooManyRequests {
				http.Error(w, "too many failed logins", status)
				return
			}
			known = status == http.StatusOK
		}
		switch {
		case !known:
			refuse(w, r)
		case !i.may(needed):
			http.Error(w, "the role "+string(i.role)+" may not do this: it takes "+string(needed), http.StatusForbidden)
		default:
			next(w, r.WithContext(context.WithValue(r.Context(), identityKey{}, i)))
		}
	})
}

// refuse redirects browsers to the login page, and answers other clients with 401.
func refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.Header.Get("Authorization") == "" && strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	if r.Header.Get("Sec-Fetch-Site") == "" { // a browser would open its own login window
		w.Header().Set("WWW-Authenticate", `Basic realm="locus", charset="UTF-8"`)
	}
	http.Error(w, "log in", http.StatusUnauthorized)
}

var loginTemplate = template.Must(template.New("login.html").ParseFS(assets, "assets/login.html"))

func (d *auth) page(w http.ResponseWriter, r *http.Request) { d.ask(w, http.StatusOK, "") }

func (d *auth) ask(w http.ResponseWriter, status int, why string) {
	headers(w)
	w.WriteHeader(status)
	_ = loginTemplate.Execute(w, map[string]any{"Why": why, "Version": d.version, "Closed": len(d.accounts) == 0})
}

func (d *auth) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	i, status := d.check(r, r.PostFormValue("user"), r.PostFormValue("password"))
	switch status {
	case http.StatusOK:
		http.SetCookie(w, d.visits.begin(i, d.secure))
		http.Redirect(w, r, "./", http.StatusSeeOther)
	case http.StatusTooManyRequests:
		d.ask(w, status, "Too many failed logins from your address. Wait some seconds.")
	default:
		d.ask(w, status, "There is no such user with this password.")
	}
}

func (d *auth) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, d.visits.end(r, d.secure))
	http.Redirect(w, r, "login", http.StatusSeeOther)
}

// headers isolate a page from other sites.
func headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
