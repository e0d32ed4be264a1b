package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/inprocess"
)

// Config configures the imitated API of Amazon SES. Account and OrgID are required.
type Config struct {
	// Account is the simulated account that stores all state. The caller closes it.
	Account *simulator.Simulator
	// OrgID is the organization whose account every request uses.
	OrgID string
	// AccessKeyID is the access key id that signatures must have; "" accepts any.
	AccessKeyID string
}

// wire has the handlers of the operations of the imitated SES API.
type wire struct {
	account *simulator.Simulator
	org     string
	key     string
}

// maxBody is the maximum size of a request body in bytes. A longer body fails with
// SerializationException.
const maxBody = 64 << 20

// New returns a handler that serves the paths of Amazon SES v2. It is safe for concurrent
// use.
func New(c Config) http.Handler {
	w := &wire{account: c.Account, org: c.OrgID, key: c.AccessKeyID}
	mux := http.NewServeMux()
	for pattern, do := range map[string]operation{
		"GET /v2/email/account":                                  w.getAccount,
		"POST /v2/email/account/details":                         w.putAccountDetails,
		"POST /v2/email/list-identities":                         w.listEmailIdentities,
		"GET /v2/email/identities":                               w.listEmailIdentities,
		"GET /v2/email/identities/{identity}":                    w.getEmailIdentity,
		"POST /v2/email/list-configuration-sets":                 w.listConfigurationSets,
		"GET /v2/email/configuration-sets":                       w.listConfigurationSets,
		"GET /v2/email/configuration-sets/{set}":                 w.getConfigurationSet,
		"GET /v2/email/contact-lists":                            w.listContactLists,
		"POST /v2/email/contact-lists":                           w.createContactList,
		"GET /v2/email/contact-lists/{list}":                     w.getContactList,
		"PUT /v2/email/contact-lists/{list}":                     w.updateContactList,
		"POST /v2/email/contact-lists/{list}/contacts/list":      w.listContacts,
		"POST /v2/email/contact-lists/{list}/contacts":           w.createContact,
		"GET /v2/email/contact-lists/{list}/contacts/{email}":    w.getContact,
		"PUT /v2/email/contact-lists/{list}/contacts/{email}":    w.updateContact,
		"DELETE /v2/email/contact-lists/{list}/contacts/{email}": w.deleteContact,
		"GET /v2/email/suppression/addresses":                    w.listSuppressedDestinations,
		"GET /v2/email/suppression/addresses/{email}":            w.getSuppressedDestination,
		"DELETE /v2/email/suppression/addresses/{email}":         w.deleteSuppressedDestination,
		"GET /v2/email/templates":                                w.listEmailTemplates,
		"POST /v2/email/templates":                               w.createEmailTemplate,
		"GET /v2/email/templates/{template}":                     w.getEmailTemplate,
		"PUT /v2/email/templates/{template}":                     w.updateEmailTemplate,
		"DELETE /v2/email/templates/{template}":                  w.deleteEmailTemplate,
		"POST /v2/email/templates/{template}/render":             w.testRenderEmailTemplate,
		"POST /v2/email/outbound-emails":                         w.sendEmail,
		"POST /v2/email/outbound-bulk-emails":                    w.sendBulkEmail,
		"/":                                                      unknown,
	} {
		mux.Handle(pattern, w.handle(do))
	}
	return mux
}

// Transport returns an http.RoundTripper that passes requests for any host to the handler
// of [New], without a socket.
func Transport(c Config) http.RoundTripper { return inprocess.Transport{Handler: New(c)} }

// operation serves one operation of the API. It returns the value to encode as the JSON
// response.
type operation func(r *http.Request) (any, error)

// handle returns the HTTP handler of one operation. It first checks the key id of the
// signature. Errors are answered with JSON, too.
func (w *wire) handle(do operation) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(out, r.Body, maxBody)
		err := w.authenticate(r)
		var answer any
		if err == nil {
			answer, err = do(r)
		}
		out.Header().Set("Content-Type", "application/json")
		if err != nil {
			writeError(out, err)
			return
		}
		_ = json.NewEncoder(out).Encode(answer) // fails only if the client has disconnected
	})
}

// authenticate checks the access key id in the signature of a request. It does not verify
// the signature itself.
func (w *wire) authenticate(r *http.Request) error {
	_, credential, signed := strings.Cut(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	if !signed {
		return &refusal{http.StatusForbidden, "MissingAuthenticationTokenException", "The request is not signed.", 0}
	}
	if key, _, _ := strings.Cut(credential, "/"); w.key != "" && key != w.key {
		return &refusal{http.StatusForbidden, "UnrecognizedClientException", "The security token included in the request is invalid.", 0}
	}
	return nil
}

// read decodes the JSON body of a request, which must be an object. It ignores unknown
// members.
func read[T any](r *http.Request) (T, error) {
	var in *T
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in == nil {
		var none T
		return none, &refusal{http.StatusBadRequest, "SerializationException", "The body is no JSON object of the operation.", 0}
	}
	return *in, nil
}

// listing has the parameters of list operations: the start and the size of a page, and a
// filter. Operations may ignore the filter.
type listing struct {
	// NextToken is the token of the page; "" requests the first page.
	NextToken string
	// PageSize is the maximum number of entries in the response; 0 means the maximum that
	// the operation allows.
	PageSize int
	// Filter restricts the objects that the response lists. It is read only from the body of
	// POST requests.
	Filter map[string]any
}

// readListing reads which page a request asks for, from the body of a POST request or from
// the query of any other request. It fails with BadRequestException if PageSize is not a
// number.
func readListing(r *http.Request) (listing, error) {
	if r.Method == http.MethodPost {
		return read[listing](r)
	}
	query := r.URL.Query()
	l := listing{NextToken: query.Get("NextToken")}
	if size := query.Get("PageSize"); size != "" {
		var err error
		if l.PageSize, err = strconv.Atoi(size); err != nil {
			return l, badRequest("PageSize is no number.")
		}
	}
	return l, nil
}

// seconds returns a time as Amazon SES encodes it: seconds since 1970, with milliseconds.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
