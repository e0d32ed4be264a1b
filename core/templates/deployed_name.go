package templates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// The limits of names in a sending account. SES allows 64 characters.
const (
	maxDeployedName = 64
	// maxNamespace is the maximum length of the organization's part of a deployed name.
	maxNamespace = 32
)

// DeployedName returns the name of a managed template in the sending account. orgSlug is the
// slug of the organization, which never changes. Several organizations may share an account,
// so the name begins with the organization: "acme--news--weekly" for the slug "news/weekly".
func DeployedName(orgSlug, slug string) string {
	return namespace(orgSlug) + "--" + strings.Map(keptInNames, strings.ReplaceAll(slug, "/", "--"))
}

// namespace returns the organization's slug. A slug that leaves too little room for the
// names of templates is cut, and ends with a hash of the whole slug.
func namespace(orgSlug string) string {
	if len(orgSlug) <= maxNamespace {
		return strings.Map(keptInNames, orgSlug)
	}
	const hashed = 4 // bytes
	sum := sha256.Sum256([]byte(orgSlug))
	return strings.Map(keptInNames, orgSlug[:maxNamespace-2*hashed-1]) + "-" + hex.EncodeToString(sum[:hashed])
}

// keptInNames returns c, or -1 if a deployed name cannot have it.
func keptInNames(c rune) rune {
	if strings.ContainsRune("._-", c) || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
		return c
	}
	return -1
}

// checkName returns why a deployed name is refused, or "".
func checkName(name string) string {
	if len(name) > maxDeployedName {
		return fmt.Sprintf("gives the template the name `%s` in the sending account, which has %d characters; at most %d are allowed", name, len(name), maxDeployedName)
	}
	return ""
}
