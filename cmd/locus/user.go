package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/router/cluster"
)

func userCommand(in *invocation) *cobra.Command {
	group := groupCommand("user", "List, add, change and remove the users of the proxies")
	group.AddCommand(userListCommand(in), userAddCommand(in), userSetCommand(in), userPasswdCommand(in), userRemoveCommand(in))
	return group
}

func userListCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the users, how they log in, and their limits",
		Example: "  locus user list\n  locus user list -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			return in.printPart(command.Context(), c, "users")
		},
	}
}

// userChange holds the parameters of one call of a command that changes a user.
type userChange struct {
	application
	user     cluster.User
	noDDL    bool
	required bool
	stdin    bool
	replace  bool
}

func (u *userChange) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&u.dryRun, "dry-run", false, "print what would be changed; write nothing")
	f.StringVar(&u.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
}

func (u *userChange) passwordFlags(c *cobra.Command) {
	c.Flags().BoolVar(&u.stdin, "password-stdin", false, "read the password from standard input, one line, and don't ask")
}

func userAddCommand(in *invocation) *cobra.Command {
	u := &userChange{application: application{in: in}}
	c := &cobra.Command{
		Use:   "add USER",
		Short: "Declare a user, and prompt for the password",
		Long: `Declare a user. The command prompts for the password, and stores what a MySQL server
stores (authentication_string, by caching_sha2_password) in etcd. With --secret, it stores
the name of a secret that the proxies look up. Every proxy accepts the user at once.

The flags limit what the user may do; locus user set has all limits.`,
		Example: `  locus user add report --database shop --read-only
  locus user add app --secret users/app
  pwgen 20 1 | tee app.password | locus user add app --password-stdin`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return u.change(command.Context(), u.added(args[0]), "")
		},
	}
	u.flags(c)
	u.passwordFlags(c)
	f := c.Flags()
	f.StringVar(&u.user.Secret, "secret", "", "the `name` of the secret with the password, instead of a prompt")
	f.StringSliceVar(&u.user.Databases, "database", nil, "a `database` that may be used; without --database and --table, all may be used")
	f.StringSliceVar(&u.user.Tables, "table", nil, "a `database.table` that may be used")
	f.BoolVar(&u.user.ReadOnly, "read-only", false, "no statement that changes or locks rows")
	f.BoolVar(&u.noDDL, "no-ddl", false, "no CREATE, ALTER, DROP, TRUNCATE, RENAME")
	f.BoolVar(&u.user.Admin, "admin", false, "may end other users' sessions, and sees the tables of the schema locus")
	f.BoolVar(&u.required, "tls-required", false, "the login must be encrypted")
	f.IntVar(&u.user.MaxConnections, "max-connections", 0, "the `number` of connections at one proxy; 0 is no limit")
	return c
}

func (u *userChange) added(name string) ops.AddUser {
	if u.noDDL {
		u.user.DDL = new(bool)
	}
	if u.required {
		u.user.TLS = cluster.TLSRequired
	}
	return ops.AddUser{Name: name, User: u.user, Password: u.password(name)}
}

func userSetCommand(in *invocation) *cobra.Command {
	u := &userChange{application: application{in: in}}
	c := &cobra.Command{
		Use:   "set USER FIELD=VALUE...",
		Short: "Change what a user may do",
		Long: `Change what a user may do. The fields are those of users in cluster.yaml, except
for the password:
` + listed(cluster.UserFields()) + `.
An empty value resets a field to its default. The elements of a list are separated by
commas. All fields are changed, or none. The next statement of each open session is
subject to the change.`,
		Example: `  locus user set app scatter_writes=allow
  locus user set report databases=shop,crm read_only=true statement_timeout=5m
  locus user set app ddl=`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			fields, err := assigned(args[1:])
			if err != nil {
				return err
			}
			return u.change(command.Context(), ops.SetUser{Name: args[0], Fields: fields}, "")
		},
	}
	u.flags(c)
	return c
}

// assigned returns the values of fields.
func assigned(assignments []string) (map[string]string, error) {
	fields := map[string]string{}
	for _, assignment := range assignments {
		field, value, is := strings.Cut(assignment, "=")
		if !is {
			return nil, misused("%q: write FIELD=VALUE, such as scatter_writes=allow", assignment)
		}
		if _, twice := fields[field]; twice {
			return nil, misused("%s is set twice", field)
		}
		fields[field] = value
	}
	return fields, nil
}

// listed returns words with commas, in lines of at most 80 characters.
func listed(words []string) string {
	var text strings.Builder
	at := 0
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		switch {
		case i == 0:
		case at+1+len(word) > 80:
			text.WriteByte('\n')
			at = 0
		default:
			text.WriteByte(' ')
			at++
		}
		text.WriteString(word)
		at += len(word)
	}
	return text.String()
}

func userPasswdCommand(in *invocation) *cobra.Command {
	u := &userChange{application: application{in: in}}
	c := &cobra.Command{
		Use:   "passwd USER",
		Short: "Change a user's password",
		Long: `Change the password of a user whose authentication_string is in etcd. The command prompts
for it. New logins use it at once; open sessions continue. If the password is a secret,
change the secret itself, or use --replace-secret to store an authentication_string in
etcd instead.`,
		Example: "  locus user passwd report",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.SetPassword{Name: args[0], Password: u.password(args[0]), ReplaceSecret: u.replace}
			return u.change(command.Context(), r, "")
		},
	}
	u.flags(c)
	u.passwordFlags(c)
	c.Flags().BoolVar(&u.replace, "replace-secret", false, "replace the secret by a password whose hash is in etcd")
	return c
}

func userRemoveCommand(in *invocation) *cobra.Command {
	u := &userChange{application: application{in: in}}
	c := &cobra.Command{
		Use:     "remove USER",
		Short:   "Remove a user, and end its sessions",
		Example: "  locus user remove report",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			question := fmt.Sprintf("User %s: remove it, and end its sessions?", args[0])
			return u.change(command.Context(), ops.RemoveUser{Name: args[0]}, question)
		},
	}
	u.flags(c)
	in.addYes(c)
	return c
}

// password returns the function that asks for a password. A dry run does not ask.
func (u *userChange) password(user string) ops.Password {
	switch {
	case u.dryRun:
		return ops.NoPassword
	case u.stdin:
		return func() (string, error) { return oneLineOf(u.in.stdin) }
	}
	return func() (string, error) { return u.in.twice(user) }
}

func oneLineOf(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// keyboard returns the terminal on which a password is typed.
func (in *invocation) keyboard() (*os.File, error) {
	if file, is := in.stdin.(*os.File); is && isTerminal(in.stdin) {
		return file, nil
	}
	return nil, misused("there is no terminal to ask for the password: --password-stdin reads it")
}

// typed asks a question and returns the answer, which the terminal does not show.
func (in *invocation) typed(terminal *os.File, question string) (string, error) {
	fmt.Fprint(in.stderr, question)
	text, err := term.ReadPassword(terminal.Fd())
	fmt.Fprintln(in.stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(text), nil
}

// twice asks for a new password twice, because the terminal does not show it.
func (in *invocation) twice(user string) (string, error) {
	terminal, err := in.keyboard()
	if err != nil {
		return "", err
	}
	first, err := in.typed(terminal, "Password of "+user+": ")
	if err != nil {
		return "", err
	}
	second, err := in.typed(terminal, "Once more: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", errors.New("the two are not the same; nothing was changed")
	}
	return first, nil
}
