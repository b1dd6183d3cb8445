package grpo

import (
	"encoding/json"
	"strconv"
)

// head writes the score as the part of an output line between index and
// advantage, tail the part from success on: what stands before and between is
// known only when the group is complete.
func (s *Score) head(b []byte) []byte {
	b = append(b, `,"reward":`...)
	if s.Reward != nil {
		b = appendNumber(b, *s.Reward, true)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendBool(append(b, `,"valid":`...), s.Valid)
	b = append(b, `,"failure":`...)
	if s.Failure == nil {
		return append(b, "null"...)
	}
	failure, _ := json.Marshal(s.Failure) // two strings always encode
	return append(b, failure...)
}

func (s *Score) tail(b []byte) []byte {
	b = strconv.AppendBool(append(b, `,"success":`...), s.Success)
	b = s.Criteria.appendTo(append(b, `,"criteria":`...))
	b = append(b, `,"defects":[`...)
	for i, d := range s.Defects {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), d...), '"')
	}
	b = append(append(b, `],"tier":"`...), s.Tier...)
	return append(b, "\"}\n"...)
}
