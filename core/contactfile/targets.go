package contactfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fields returns the contact fields that a column may set. A column may also set an
// attribute or a topic; see [AttributeTarget] and [TopicTarget].
func Fields() []string { return []string{email, externalID, unsubscribeAll, lists} }

// AttributeTarget returns the target of a column that sets an attribute.
func AttributeTarget(name string) string { return attributePrefix + name }

// TopicTarget returns the target of a column that sets the choice about a topic.
func TopicTarget(name string) string { return topicPrefix + name }

// GuessTargets returns what the columns with these headers probably set, as Config.Targets:
// "" for an unknown header, and for a header that means the same as an earlier one.
func GuessTargets(header, attributes []string) []string {
	targets := make([]string, len(header))
	for i, name := range header {
		c, known := meaning(name, attributes)
		if target := c.String(); known && !IsRejectedColumn(name) && !slices.Contains(targets[:i], target) {
			targets[i] = target
		}
	}
	return targets
}

// CheckTargets returns an error, in words for people, if the targets do not fit the header:
// if a target is unknown, if two columns have the same one, or if no column identifies a
// contact. attributes are the names of the registered attributes.
func CheckTargets(header, targets, attributes []string) error {
	_, err := targetColumns(header, targets, attributes)
	return err
}

// targetColumns returns the columns with these targets. It fails as CheckTargets does.
func targetColumns(header, targets, attributes []string) ([]column, error) {
	if len(targets) != len(header) {
		return nil, fmt.Errorf("the file has %d columns, and %d are assigned: assign each column", len(header), len(targets))
	}
	columns := make([]column, len(header))
	seen := map[column]string{}
	for i, target := range targets {
		if strings.TrimSpace(target) == "" {
			continue
		}
		c, known := meaning(target, attributes)
		if !known {
			return nil, fmt.Errorf("the column %q is assigned to %q, which is no field, attribute or topic: choose another target", header[i], target)
		}
		if other, twice := seen[c]; twice {
			return nil, fmt.Errorf("the columns %q and %q are both assigned to %s: ignore one of them", other, header[i], c)
		}
		seen[c], columns[i] = header[i], c
	}
	_, byAddress := seen[column{field: email}]
	_, byID := seen[column{field: externalID}]
	if !byAddress && !byID {
		return nil, errors.New("no column is assigned to the address or the external id: assign one, so that each row has a contact")
	}
	return columns, nil
}
