package api

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"toolgym/internal/refusal"
)

// The roles that a token can have. A request needs a token as soon as the
// server has any; what it may do beyond looking at environments and tasks, its
// roles say.
const (
	Play  = "play"  // episodes, tools, MCP, acting with a policy
	Score = "score" // parsing, scoring, audits, trainer scripts
	Train = "train" // policy runs and evaluations
	Admin = "admin" // all of that, other people's episodes and runs, metrics
)

// A Token names a holder and what the holder may do. The secret itself is
// nowhere on the server: only its SHA-256 is, which is enough, since the secret
// is drawn at random with 130 bits and not made up by a person.
type Token struct {
	Name  string
	Roles []string
	Hash  [sha256.Size]byte
}

// Issue draws a new secret and returns it, with the token to be kept. A name or
// a role that makes no sense is an [*tools.Error] with code invalid.
func Issue(name string, roles ...string) (secret string, token Token, err error) {
	secret = "tg_" + rand.Text()
	token = Token{Name: name, Roles: roles, Hash: sha256.Sum256([]byte(secret))}
	return secret, token, token.validate()
}

// String is the token's line in a token file, name:role[,role]:sha256-hex.
func (t Token) String() string {
	return t.Name + ":" + strings.Join(t.Roles, ",") + ":" + hex.EncodeToString(t.Hash[:])
}

// ParseTokens reads a token file: a line a token, as String writes it; empty
// lines and those that begin with # are left out. What is wrong is an
// [*tools.Error] with code invalid, which names the line and quotes none of it.
func ParseTokens(r io.Reader) ([]Token, error) {
	var list []Token
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		token, err := parseToken(line)
		if err == nil {
			err = repeated(list, token)
		}
		if err != nil {
			return nil, refusal.Move(fmt.Sprintf("line %d", n), err)
		}
		list = append(list, token)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading tokens: %w", err)
	}
	return list, nil
}

func parseToken(line string) (Token, error) {
	parts := strings.Split(line, ":")
	if len(parts) != 3 {
		return Token{}, refusal.New("", "name:role[,role]:sha256-hex", "%d parts between colons", len(parts))
	}
	token := Token{Name: parts[0], Roles: strings.Split(parts[1], ",")}
	hash, err := hex.DecodeString(parts[2])
	if err != nil || len(hash) != sha256.Size {
		return Token{}, refusal.New("", "64 hexadecimal digits, as toolgym token prints them", "the third part is no SHA-256")
	}
	copy(token.Hash[:], hash)
	return token, token.validate()
}

func repeated(list []Token, token Token) error {
	for _, other := range list {
		if other.Name == token.Name || other.Hash == token.Hash {
			return refusal.New("", "each once", "the name or the hash stands there already")
		}
	}
	return nil
}

// validate reports a name that does not fit into a log line, and unknown roles.
func (t Token) validate() error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`).MatchString(t.Name) {
		return refusal.New("name", "up to 64 letters, digits, _ . and -", "%.80q is no name", t.Name)
	}
	if len(t.Roles) == 0 {
		return refusal.New("roles", "some of play, score, train, admin", "there is no role")
	}
	for i, role := range t.Roles {
		if !slices.Contains([]string{Play, Score, Train, Admin}, role) || slices.Contains(t.Roles[:i], role) {
			return refusal.New("roles", "some of play, score, train, admin, each once", "%.80q is no role, or stands twice", role)
		}
	}
	return nil
}

// holder finds the token that a secret belongs to. It takes the same time
// whichever it is, and if there is none.
func holder(tokens []Token, secret string) (found Token, ok bool) {
	hash := sha256.Sum256([]byte(secret))
	at := -1
	for i := range tokens {
		same := subtle.ConstantTimeCompare(hash[:], tokens[i].Hash[:])
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 {
		return Token{}, false
	}
	return tokens[at], true
}

var _ fmt.Stringer = Token{}

// A caller is who sends a request.
type caller struct {
	name  string // of the token; empty without
	roles []string
}

// may reports whether the caller has a role.
func (c caller) may(role string) bool {
	return slices.Contains(c.roles, role) || slices.Contains(c.roles, Admin)
}

// owns reports whether what belongs to the owner is the caller's to use.
func (c caller) owns(owner string) bool {
	return slices.Contains(c.roles, Admin) || len(c.roles) > 0 && c.name == owner
}

// known reports whether the caller has shown a token, or needs none.
func (c caller) known() bool { return len(c.roles) > 0 }

// refusal is the answer to a caller that lacks a role.
func (c caller) refusal(role string) *failure {
	if !c.known() {
		return unauthorized("this needs a token")
	}
	return fail(http.StatusForbidden, fmt.Sprintf("the token %s may not do this; expected one with the role %s", c.name, role))
}
