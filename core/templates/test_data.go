package templates

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
)

// maxTestData is the maximum length of the test data of a template as JSON, in bytes.
const maxTestData = 64 << 10

// maxProfileName is the maximum length of the name of a profile, in bytes.
const maxProfileName = 100

// encodeTestData returns test data as JSON, "" for none. Each member of the data is a
// profile: an object with sample values of the variables. fault says what is wrong with the
// data, or is "".
func encodeTestData(data map[string]any) (encoded, fault string) {
	if data == nil {
		return "", ""
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if _, ok := data[name].(map[string]any); !ok {
			return "", "has " + core.Quote(name) + ", which is no object; send an object of values for each set, such as {\"vip\": {\"first_name\": \"Ada\"}}"
		}
		if name == "" || len(name) > maxProfileName {
			return "", fmt.Sprintf("has a set with the name %s; names have 1 to %d bytes", core.Quote(name), maxProfileName)
		}
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "", "cannot be stored as JSON"
	}
	if len(text) > maxTestData {
		return "", fmt.Sprintf("has %d bytes as JSON; at most %d are allowed", len(text), maxTestData)
	}
	return string(text), ""
}

// profiles returns the profiles of stored test data.
func profiles(testData string) (map[string]map[string]any, error) {
	if testData == "" {
		return nil, nil
	}
	var decoded map[string]map[string]any
	err := json.Unmarshal([]byte(testData), &decoded)
	return decoded, err
}

// profile returns the profile with this name of stored test data. It fails with
// core.CodeValidationFailed if there is none.
func profile(testData, name string) (map[string]any, error) {
	all, err := profiles(testData)
	if err != nil {
		return nil, err
	}
	values, ok := all[name]
	if !ok {
		reason := "names no test data of this template, which has none; send `data` instead"
		if names := slices.Sorted(maps.Keys(all)); len(names) > 0 {
			reason = "names no test data of this template; choose " + core.QuotedList(names)
		}
		return nil, core.Invalid("profile", reason)
	}
	return values, nil
}

// Registry has the attributes of contacts.
type Registry interface {
	// AttributeNames returns the names of all attributes.
	AttributeNames(ctx context.Context, orgID string) ([]string, error)
}

// knownNames returns the names that variables of a template may have: the attributes, and
// the values of its test data.
func (t *Templates) knownNames(ctx context.Context, orgID, testData string) ([]string, error) {
	names, err := t.Registry.AttributeNames(ctx, orgID)
	if err != nil {
		return nil, err
	}
	all, err := profiles(testData)
	for _, values := range all {
		names = slices.AppendSeq(names, maps.Keys(values))
	}
	slices.Sort(names)
	return slices.Compact(append([]string{}, names...)), err
}
