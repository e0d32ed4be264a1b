package guardrails

import (
	"errors"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// The causes of a refused Authorization header, for the log. All callers get the same
// message.
var (
	errBearerMissing = errors.New("no bearer credential in the request")
	errBearerForm    = errors.New("the Authorization header is malformed or repeated")
)

// bearerCredential returns the credential from the values of the Authorization header (RFC
// 6750 section 2.1). It fails with invalid_key unless the header occurs once, with the
// scheme Bearer in any case and one token68 (RFC 9110 section 11.2).
func bearerCredential(authorization []string) (string, error) {
	if len(authorization) == 0 {
		return "", core.InvalidKey(errBearerMissing)
	}
	if len(authorization) > 1 {
		return "", core.InvalidKey(errBearerForm)
	}
	scheme, credential, ok := strings.Cut(authorization[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", core.InvalidKey(errBearerForm)
	}
	credential = strings.TrimLeft(credential, " ")
	if !isToken68(credential) {
		return "", core.InvalidKey(errBearerForm)
	}
	return credential, nil
}

// token68 has the characters of a token68, without the padding (RFC 9110 section 11.2).
const token68 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/"

func isToken68(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && strings.Trim(body, token68) == ""
}
