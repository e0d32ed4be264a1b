package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"regexp"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/outbound"
)

// causes maps error codes of S3 to causes.
var causes = map[string]objects.Cause{
	"InvalidAccessKeyId": objects.BadKey, "SignatureDoesNotMatch": objects.BadKey, "InvalidSecurity": objects.BadKey,
	"XAdminUserNotFound": objects.BadKey, // of versitygw
	"AccessDenied":       objects.Denied, "AccountProblem": objects.Denied, "AllAccessDisabled": objects.Denied, "Forbidden": objects.Denied,
	"NoSuchBucket": objects.NoBucket, "InvalidBucketName": objects.NoBucket,
	"PermanentRedirect": objects.OtherRegion, "TemporaryRedirect": objects.OtherRegion, "AuthorizationHeaderMalformed": objects.OtherRegion,
	"IllegalLocationConstraintException": objects.OtherRegion,
	"RequestTimeTooSkewed":               objects.WrongClock,
	"RequestTimeout":                     objects.TimedOut,
}

// codes is the form of error codes. The code comes from the server of a customer, so a text
// of another form is not kept.
var codes = regexp.MustCompile(`^[A-Za-z0-9.]{1,60}$`)

// isMissing reports whether an error says that an object does not exist. A missing bucket is
// another error with the same status.
func isMissing(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "NoSuchKey" || api.ErrorCode() == "NotFound")
}

// failureOf converts an error of the SDK into an *objects.Failure, which is an
// ErrUnavailable; nil stays nil. bounded is the context of the call, which a time limit has
// ended if the caller's context has not. The end of the caller's context is no failure of
// the bucket.
func failureOf(bounded, caller context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := caller.Err(); ended != nil {
		return ended
	}
	f := &objects.Failure{Err: err}
	if api, ok := errors.AsType[smithy.APIError](err); ok && codes.MatchString(api.ErrorCode()) {
		f.Code = api.ErrorCode()
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		f.Status = response.HTTPStatusCode()
	}
	f.Cause = causeOf(f, err)
	if bounded.Err() != nil {
		f.Cause = objects.TimedOut
	}
	return f
}

// causeOf returns the cause of a failure with a code and a status.
func causeOf(f *objects.Failure, err error) objects.Cause {
	if cause, ok := causes[f.Code]; ok {
		return cause
	}
	switch {
	case f.Status == http.StatusForbidden || f.Status == http.StatusUnauthorized:
		return objects.Denied
	case f.Status >= 300 && f.Status < 400:
		return objects.OtherRegion
	case f.Status != 0:
		return objects.OtherCause
	}
	_, unknown := errors.AsType[*net.DNSError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, outbound.ErrPort), errors.Is(err, outbound.ErrAddress):
		return objects.NotAllowed
	case unknown:
		return objects.UnknownHost
	case certificate:
		return objects.BadCertificate
	case ok && timeout.Timeout():
		return objects.TimedOut
	}
	return objects.NotConnected
}
