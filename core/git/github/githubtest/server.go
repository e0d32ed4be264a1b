package githubtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core/git"
)

// Values that are the same in each test.
const (
	AppID        = 4711
	ClientID     = "Iv23client"
	ClientSecret = "client-secret-of-the-app"
	Installation = 99
	// Name is the repository that New makes.
	Name = "acme/definitions"
)

// key is the private key of the app. Making it takes long.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// Key returns the private key of the app.
func Key() *rsa.PrivateKey { return key() }

// PEM returns the private key of the app in the form in which GitHub offers it for download.
func PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(Key())}))
}

// Sign returns the header X-Hub-Signature-256 of a delivery of a webhook.
func Sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(body)) // never fails
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Pull is a pull request.
type Pull struct {
	Number            int
	Head, Base, Title string
	State             string
	Merged            bool
}

// Server is a stand-in of GitHub with one installation of one app.
type Server struct {
	URL string
	// Clock is the time with which tokens are checked.
	Clock func() time.Time
	t     testing.TB

	mu sync.Mutex
	// Refuse answers a request in place of the server, by the name of its shape, if it returns true.
	refuse func(shape string, w http.ResponseWriter, r *http.Request) bool
	// Calls are the names of the shapes of the requests.
	calls []string
	// Tokens has what each token is for.
	tokens map[string]string
	ended  map[string]bool
	minted int

	defaultBranch string
	branches      map[string]string   // commit by name
	commits       map[string][]string // tree and parents by id
	trees         map[string]map[string]entry
	blobs         map[string][]byte
	pulls         []Pull
	truncated     bool
	// people has the repositories that a person may write to, by the code that a browser brings.
	people map[string][]string
}

// entry is an entry of the files of a commit, by its path.
type entry struct{ mode, id string }

// New starts a stand-in with an empty repository Name, whose default branch is main. It stops when
// the test ends.
func New(t testing.TB, clock func() time.Time) *Server {
	t.Helper()
	s := &Server{
		t: t, Clock: clock, tokens: map[string]string{}, ended: map[string]bool{}, defaultBranch: "main", branches: map[string]string{},
		commits: map[string][]string{}, trees: map[string]map[string]entry{}, blobs: map[string][]byte{}, people: map[string][]string{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Refuse lets f answer requests in place of the server. It answers those for which it returns true.
func (s *Server) Refuse(f func(shape string, w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = f
}

// Calls returns the names of the requests since the last call.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// EndTokens makes all tokens invalid.
func (s *Server) EndTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token := range s.tokens {
		s.ended[token] = true
	}
}

// SetDefaultBranch renames the default branch.
func (s *Server) SetDefaultBranch(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.branches[name] = s.branches[s.defaultBranch]
	delete(s.branches, s.defaultBranch)
	s.defaultBranch = name
}

// Truncate makes the server list folders only partly.
func (s *Server) Truncate(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.truncated = yes
}

// Commit commits files on the default branch, which then has only these. A content that begins with
// "symlink:" or "submodule:" makes such an entry.
func (s *Server) Commit(files map[string]string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree := map[string]entry{}
	for path, content := range files {
		id := git.BlobID([]byte(content))
		s.blobs[id] = []byte(content)
		mode := "100644"
		switch {
		case strings.HasPrefix(content, "symlink:"):
			mode = "120000"
		case strings.HasPrefix(content, "submodule:"):
			mode = "160000"
		}
		tree[path] = entry{mode, id}
	}
	id := s.commit(s.addTree(tree), nil)
	s.branches[s.defaultBranch] = id
	return id
}

// File returns the content of a file on a branch, and whether it exists.
func (s *Server) File(branch, path string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	commit := s.commits[s.branches[branch]]
	if len(commit) == 0 {
		return "", false
	}
	e, ok := s.trees[commit[0]][path]
	return string(s.blobs[e.id]), ok
}

// Pulls returns the pull requests.
func (s *Server) Pulls() []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pulls)
}

// Decide merges or closes the pull requests of a branch, and deletes the branch. A merge gives the
// default branch the files of the branch. It returns the commit of the default branch.
func (s *Server) Decide(branch string, merged bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tip := s.branches[branch]; merged && tip != "" {
		s.branches[s.defaultBranch] = s.commit(s.commits[tip][0], []string{s.branches[s.defaultBranch], tip})
	}
	for i := range s.pulls {
		if s.pulls[i].Head == branch {
			s.pulls[i].State, s.pulls[i].Merged = "closed", merged
		}
	}
	delete(s.branches, branch)
	return s.branches[s.defaultBranch]
}

// Person lets a browser bring a code of a person who may write to repositories of the installation.
func (s *Server) Person(code string, repositories ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[code] = repositories
}

// addTree keeps the files of a commit, and a folder for each prefix. It returns the id of the root.
func (s *Server) addTree(files map[string]entry) string {
	text, _ := json.Marshal(fmt.Sprint(files)) // a text always has a JSON form
	id := git.BlobID(text)
	s.trees[id] = files
	return id
}

func (s *Server) commit(tree string, parents []string) string {
	id := git.BlobID(fmt.Append(nil, tree, parents, len(s.commits)))
	s.commits[id] = append([]string{tree}, parents...)
	return id
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	name, parts := find(r.Method, r.URL.EscapedPath())
	if err != nil || name == "" {
		s.t.Errorf("github: %s %s: %v", r.Method, r.URL, err)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if err := shapes[name].check(r, body); err != nil {
		s.t.Errorf("github: %s %s has %v", r.Method, r.URL, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, name)
	if s.refuse != nil && s.refuse(name, w, r) {
		return
	}
	if !s.admits(shapes[name].by, r) {
		refuse(w, http.StatusUnauthorized, "Bad credentials")
		return
	}
	if len(parts) > 1 && parts[0]+"/"+parts[1] != Name {
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	s.answer(w, r, name, parts, decoder)
}

// admits reports whether a request has a credential of the right kind.
func (s *Server) admits(by credential, r *http.Request) bool {
	value, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case by == asNobody:
		return true
	case !bearer || s.ended[value]:
		return false
	case by == asApp:
		return s.isAppToken(value)
	case by == asInstallation:
		return s.tokens[value] == Name
	default:
		return strings.HasPrefix(s.tokens[value], "person:")
	}
}

// isAppToken checks a JSON Web Token of the app.
func (s *Server) isAppToken(text string) bool {
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return false
	}
	claims, err := signed.Verify(&key().PublicKey)
	var c struct {
		Iss      string
		Iat, Exp int64
	}
	if err != nil || json.Unmarshal(claims, &c) != nil {
		return false
	}
	now := s.Clock().Unix()
	return c.Iss == strconv.Itoa(AppID) && c.Iat <= now && c.Exp > now && c.Exp-c.Iat <= 600
}

// mint returns a new token for a repository or a person.
func (s *Server) mint(of string) string {
	s.minted++
	token := fmt.Sprintf("ghs_secret_%d", s.minted)
	s.tokens[token] = of
	return token
}

func refuse(w http.ResponseWriter, status int, message string) {
	write(w, status, map[string]any{"message": message, "documentation_url": "https://docs.example.com", "status": strconv.Itoa(status)})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that has gone needs no answer
}

func encode(content []byte) string {
	text := base64.StdEncoding.EncodeToString(content)
	var lines strings.Builder
	for len(text) > 60 {
		lines.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return lines.String() + text + "\n"
}
