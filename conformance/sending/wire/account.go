package wire

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/sending"
)

// object is a JSON object of a response, with the member names of Amazon SES.
type object = map[string]any

// mailTypes maps the mail types of package sending to those of Amazon SES.
var mailTypes = map[sending.MailType]string{sending.Transactional: "TRANSACTIONAL", sending.Promotional: "MARKETING"}

// getAccount serves GetAccount. EnforcementStatus is always HEALTHY. Details are present if
// production access was requested; their case id is always 1.
func (w *wire) getAccount(r *http.Request) (any, error) {
	o, err := w.account.Overview(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	answer := object{
		"DedicatedIpAutoWarmupEnabled": false, "EnforcementStatus": "HEALTHY",
		"ProductionAccessEnabled": !o.Sandbox, "SendingEnabled": o.SendingEnabled,
		"SendQuota":             object{"Max24HourSend": float64(o.Max24HourSend), "MaxSendRate": float64(o.MaxSendRate), "SentLast24Hours": float64(o.SentLast24Hours)},
		"SuppressionAttributes": object{"SuppressedReasons": []string{"BOUNCE", "COMPLAINT"}},
	}
	if o.Review == sending.NoReview {
		return answer, nil
	}
	asked, err := w.account.ProductionRequest(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	details := object{"ReviewDetails": object{"Status": strings.ToUpper(string(o.Review)), "CaseId": "1"}}
	if asked.MailType != "" {
		details["MailType"], details["WebsiteURL"], details["UseCaseDescription"] = mailTypes[asked.MailType], asked.Website, asked.UseCase
	}
	answer["Details"] = details
	return answer, nil
}

// putAccountDetails serves PutAccountDetails, which requests production access. It fails
// with ConflictException while a request is pending, and after one was granted.
func (w *wire) putAccountDetails(r *http.Request) (any, error) {
	in, err := read[struct {
		MailType, WebsiteURL, UseCaseDescription string
		ProductionAccessEnabled                  *bool
	}](r)
	if err != nil {
		return nil, err
	}
	if in.ProductionAccessEnabled == nil || !*in.ProductionAccessEnabled {
		return nil, badRequest("ProductionAccessEnabled is not true.")
	}
	if o, err := w.account.Overview(r.Context(), w.org); err != nil {
		return nil, err
	} else if o.Review == sending.ReviewPending || o.Review == sending.ReviewGranted {
		return nil, &refusal{http.StatusConflict, "ConflictException", "Production access was asked for already.", 0}
	}
	request := sending.ProductionRequest{Website: in.WebsiteURL, UseCase: in.UseCaseDescription}
	for ours, theirs := range mailTypes {
		if theirs == in.MailType {
			request.MailType = ours
		}
	}
	return object{}, w.account.RequestProductionAccess(r.Context(), w.org, request)
}

// identityType returns EMAIL_ADDRESS for an identity with an @, else DOMAIN.
func identityType(i sending.Identity) string {
	if strings.Contains(i.Identity, "@") {
		return "EMAIL_ADDRESS"
	}
	return "DOMAIN"
}

// listEmailIdentities serves ListEmailIdentities. SendingEnabled is always true.
func (w *wire) listEmailIdentities(r *http.Request) (any, error) {
	all, err := w.account.Identities(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(r, all, func(i sending.Identity) string { return strings.ToLower(i.Identity) })
	infos := make([]object, len(page))
	for i, one := range page {
		infos[i] = object{
			"IdentityName": one.Identity, "IdentityType": identityType(one),
			"SendingEnabled": true, "VerificationStatus": strings.ToUpper(string(one.Verification)),
		}
	}
	return withNext(object{"EmailIdentities": infos}, next), err
}

// getEmailIdentity serves GetEmailIdentity. It ignores the case of the identity. The DKIM
// status is the same as the verification status.
func (w *wire) getEmailIdentity(r *http.Request) (any, error) {
	all, err := w.account.Identities(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(i sending.Identity) bool { return strings.EqualFold(i.Identity, r.PathValue("identity")) })
	if at < 0 {
		return nil, notFound("There is no such identity.")
	}
	one := all[at]
	status := strings.ToUpper(string(one.Verification))
	answer := object{
		"IdentityType": identityType(one), "VerificationStatus": status, "VerifiedForSendingStatus": one.Verification == sending.Success,
		"FeedbackForwardingStatus": true,
		"DkimAttributes": object{
			"SigningEnabled": one.Verification == sending.Success, "Status": status, "SigningAttributesOrigin": "AWS_SES", "Tokens": one.DKIMTokens,
		},
	}
	if one.ConfigurationSet != "" {
		answer["ConfigurationSetName"] = one.ConfigurationSet
	}
	return answer, nil
}

// listConfigurationSets serves ListConfigurationSets, which returns the names of
// configuration sets.
func (w *wire) listConfigurationSets(r *http.Request) (any, error) {
	all, err := w.account.ConfigurationSets(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(r, all, func(c sending.ConfigurationSet) string { return c.Name })
	names := make([]string, len(page))
	for i, c := range page {
		names[i] = c.Name
	}
	return withNext(object{"ConfigurationSets": names}, next), err
}

// getConfigurationSet serves GetConfigurationSet. The name must match exactly.
// TrackingOptions is omitted if there is no tracking domain.
func (w *wire) getConfigurationSet(r *http.Request) (any, error) {
	all, err := w.account.ConfigurationSets(r.Context(), w.org)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(c sending.ConfigurationSet) bool { return c.Name == r.PathValue("set") })
	if at < 0 {
		return nil, notFound("There is no such configuration set.")
	}
	one := all[at]
	answer := object{
		"ConfigurationSetName": one.Name, "SendingOptions": object{"SendingEnabled": true},
		"SuppressionOptions": object{"SuppressedReasons": append([]string{}, one.SuppressionPolicy...)},
	}
	if one.TrackingDomain != "" {
		answer["TrackingOptions"] = object{"CustomRedirectDomain": one.TrackingDomain}
	}
	return answer, nil
}

// pageOf returns one page of the entries in all, and the token of the next page, or "" at
// the end. The entries must be sorted by key. The token is the key of the page's last entry
// in base64url. A page has at most 1,000 entries. A request whose token is not base64url
// fails with InvalidNextTokenException.
func pageOf[T any](r *http.Request, all []T, key func(T) string) ([]T, string, error) {
	l, err := readListing(r)
	if err != nil {
		return nil, "", err
	}
	const most = 1000
	size := most
	if l.PageSize > 0 {
		size = min(l.PageSize, most)
	}
	after, err := base64.RawURLEncoding.Strict().DecodeString(l.NextToken)
	if err != nil {
		return nil, "", &refusal{http.StatusBadRequest, "InvalidNextTokenException", "The token is none of this listing.", 0}
	}
	start := 0
	for l.NextToken != "" && start < len(all) && key(all[start]) <= string(after) {
		start++
	}
	end := min(start+size, len(all))
	page := all[start:end]
	if end == len(all) {
		return page, "", nil
	}
	return page, base64.RawURLEncoding.EncodeToString([]byte(key(all[end-1]))), nil
}

// withNext adds the member NextToken to a response if there is a next page.
func withNext(answer object, next string) object {
	if next != "" {
		answer["NextToken"] = next
	}
	return answer
}
