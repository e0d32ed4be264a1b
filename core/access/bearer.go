package access

import "strings"

// maxBearer is the longest credential that is examined, in bytes. An access token with
// all scopes has less than 3 KB.
const maxBearer = 8 << 10

// Bearer returns the credential from the values of the Authorization header (RFC 6750
// section 2.1). It fails with invalid_key unless the header occurs once, with the scheme
// Bearer in any case and one token68 (RFC 9110 section 11.2).
func Bearer(authorization []string) (string, error) {
	if len(authorization) == 0 {
		return "", invalidKey(errBearerMissing)
	}
	if len(authorization) > 1 {
		return "", invalidKey(errBearerForm)
	}
	scheme, credential, ok := strings.Cut(authorization[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", invalidKey(errBearerForm)
	}
	credential = strings.TrimLeft(credential, " ")
	if len(credential) == 0 || len(credential) > maxBearer {
		return "", invalidKey(errBearerLength)
	}
	if !isToken68(credential) {
		return "", invalidKey(errBearerForm)
	}
	return credential, nil
}

func isToken68(s string) bool {
	body := strings.TrimRight(s, "=")
	for i := range len(body) {
		if c := body[i]; !isPlainName(c) && c != '.' && c != '~' && c != '+' && c != '/' {
			return false
		}
	}
	return len(body) > 0
}
