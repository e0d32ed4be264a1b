package objects

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Bucket describes a bucket of a customer, at Amazon S3 or at another server with the same
// protocol, and how it is reached. Secret is in plain text here and encrypted in the
// database. It is never logged or shown.
type Bucket struct {
	// Endpoint is the URL of the server without a path; "" means Amazon S3 in Region.
	Endpoint string
	Region   string
	Name     string
	// Prefix is put before all keys. It is "" or ends with a slash.
	Prefix string
	// PathStyle puts the name of the bucket into the path of URLs, not into the host name.
	// Servers other than Amazon's usually need that.
	PathStyle           bool
	AccessKeyID, Secret string
	// Encryption is how the server encrypts objects: EncryptionDefault, EncryptionAES or
	// EncryptionKMS. KMSKeyID is the key of EncryptionKMS; "" means the default of the
	// account.
	Encryption Encryption
	KMSKeyID   string
}

// Encryption is a kind of encryption on the server of a bucket.
type Encryption string

// The kinds of encryption. EncryptionDefault leaves it to the settings of the bucket.
const (
	EncryptionDefault Encryption = ""
	EncryptionAES     Encryption = "AES256"
	EncryptionKMS     Encryption = "aws:kms"
)

// The limits of settings, in bytes.
const (
	maxEndpoint = 300
	maxPrefix   = 200
	maxSecret   = 200
)

// The formats of names. They become parts of URLs and of signed requests, so nothing else is
// accepted. A bucket name is not the ARN of anything.
var (
	regions      = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`) // servers other than Amazon's have names such as auto or garage
	awsRegions   = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}$`)
	bucketNames  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixes     = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9._-]*/)*$`)
	accessKeyIDs = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
	kmsKeys      = regexp.MustCompile(`^[A-Za-z0-9:/_-]*$`)
	hostNames    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
)

// privateNames are top-level domains that no host on the public Internet has.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa", "onion"}

// Checked returns the bucket as it is stored: without white space around values, the
// endpoint without a slash at its end, the prefix with one. networks is true if the operator
// allows private networks; only then may the endpoint be an http address, an IP address or a
// port other than 443. Checked resolves no host name: each connection is checked again. It
// fails with core.CodeValidationFailed.
func (b Bucket) Checked(networks bool) (Bucket, error) {
	for _, text := range []*string{&b.Endpoint, &b.Region, &b.Name, &b.Prefix, &b.AccessKeyID, &b.Secret, &b.KMSKeyID} {
		*text = strings.TrimSpace(*text)
	}
	b.Endpoint = strings.ToLower(strings.TrimRight(b.Endpoint, "/"))
	if b.Prefix = strings.Trim(b.Prefix, "/"); b.Prefix != "" {
		b.Prefix += "/"
	}
	var faults []core.FieldError
	refuse := func(field, reason string, refused bool) {
		if refused {
			faults = append(faults, core.FieldError{Field: field, Reason: reason})
		}
	}
	reason := endpointFault(b.Endpoint, networks)
	refuse("endpoint", reason, reason != "")
	refuse("region", "must be an AWS region, such as eu-central-1", b.Endpoint == "" && !awsRegions.MatchString(b.Region))
	refuse("region", "must be the name of a region in lower case, such as us-east-1; if the server has no regions, use us-east-1", b.Endpoint != "" && !regions.MatchString(b.Region))
	refuse("bucket", "must be the name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens",
		!bucketNames.MatchString(b.Name) || strings.Contains(b.Name, "..") || isAddress(b.Name))
	refuse("prefix", "must have letters, digits, dots, hyphens, underscores and single slashes, and at most 200 characters; no part may begin with a dot",
		len(b.Prefix) > maxPrefix || !prefixes.MatchString(b.Prefix))
	refuse("access_key_id", "must be the id of an access key: letters, digits, dots, hyphens and underscores",
		len(b.AccessKeyID) < 3 || len(b.AccessKeyID) > 128 || !accessKeyIDs.MatchString(b.AccessKeyID))
	refuse("secret", "is missing", b.Secret == "")
	refuse("secret", "must be one line of at most 200 characters", len(b.Secret) > maxSecret || !utf8.ValidString(b.Secret) || strings.ContainsAny(b.Secret, "\x00\r\n"))
	refuse("encryption", "must be AES256, aws:kms or empty", !slices.Contains([]Encryption{EncryptionDefault, EncryptionAES, EncryptionKMS}, b.Encryption))
	refuse("kms_key_id", "needs the encryption aws:kms", b.KMSKeyID != "" && b.Encryption != EncryptionKMS)
	refuse("kms_key_id", "must be the id or the ARN of a key", len(b.KMSKeyID) > 300 || !kmsKeys.MatchString(b.KMSKeyID))
	if len(faults) > 0 {
		return b, core.InvalidFields(faults...)
	}
	return b, nil
}

// isAddress reports whether a text is an IP address.
func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}

// endpointFault returns the reason why an endpoint is refused, or "".
func endpointFault(endpoint string, networks bool) string {
	if endpoint == "" {
		return ""
	}
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > maxEndpoint || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" ||
		u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(endpoint, "?# ") {
		return "must be the https address of the server without a path, such as https://s3.example.com"
	}
	host := u.Hostname()
	switch {
	case !isAddress(host) && !hostNames.MatchString(host):
		return "must have a valid host name"
	case networks:
		return ""
	case u.Scheme != "https":
		return "must begin with https://, so that mail is not sent over unencrypted connections"
	case u.Port() != "" && u.Port() != "443":
		return "must have the port 443, which needs no number in the address"
	}
	if dot := strings.LastIndexByte(host, '.'); isAddress(host) || dot < 0 || slices.Contains(privateNames, host[dot+1:]) {
		return "must have the name of a host on the public Internet, or be in a network that the operator allows with --bucket-networks"
	}
	return ""
}

// IsSamePlace reports whether two descriptions mean the same objects, so that objects that
// were written with one are found with the other.
func (b Bucket) IsSamePlace(other Bucket) bool {
	return b.Endpoint == other.Endpoint && b.Name == other.Name && b.Prefix == other.Prefix && (b.Endpoint != "" || b.Region == other.Region)
}

// KeepsSecret reports whether the secret of the stored bucket b is used for the description
// next if that has none: b has the same server and access key. So the secret is never sent
// to another server than the one that it was entered for.
func (b Bucket) KeepsSecret(next Bucket) bool {
	return b.Secret != "" && b.Endpoint == next.Endpoint && b.AccessKeyID == next.AccessKeyID
}
