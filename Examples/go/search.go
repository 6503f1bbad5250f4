// Sends one search and prints its outcome. It needs KAFKA_BOOTSTRAP_SERVERS.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func main() {
	servers := os.Getenv("KAFKA_BOOTSTRAP_SERVERS")
	requests, outcomes := "location-search.requests", []string{"location-search.results", "location-search.errors"}

	// Read before you write: the consumer's positions are fixed before the request leaves.
	consumer := must(kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers": servers, "group.id": "unused", "enable.auto.commit": false}))
	var ends []kafka.TopicPartition
	for i := range outcomes {
		metadata := must(consumer.GetMetadata(&outcomes[i], false, 10_000))
		for _, partition := range metadata.Topics[outcomes[i]].Partitions {
			_, end, err := consumer.QueryWatermarkOffsets(outcomes[i], partition.ID, 10_000)
			check(err)
			ends = append(ends, kafka.TopicPartition{Topic: &outcomes[i], Partition: partition.ID, Offset: kafka.Offset(end)})
		}
	}
	check(consumer.Assign(ends))

	// Without this partitioner, the key would go to another partition than Java's and the workers' own.
	producer := must(kafka.NewProducer(&kafka.ConfigMap{
		"bootstrap.servers": servers, "partitioner": "murmur2_random", "enable.idempotence": true}))
	expires := time.Now().Add(30 * time.Second)
	delivered := make(chan kafka.Event, 1)
	check(producer.Produce(&kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &requests, Partition: kafka.PartitionAny},
		Key:            []byte("browser-3"), // the session
		Value: []byte(`{"requestId": "order-7", "sessionId": "browser-3",
			"location": {"latitude": 35.690921, "longitude": 139.700258}}`),
		Headers: []kafka.Header{
			{Key: "ce_specversion", Value: []byte("1.0")},
			{Key: "ce_type", Value: []byte("location-search.requested.v1")},
			{Key: "ce_source", Value: []byte("/shop")},
			{Key: "ce_id", Value: []byte("order-7")},
			{Key: "ce_expirytime", Value: []byte(expires.UTC().Format(time.RFC3339))},
			{Key: "content-type", Value: []byte("application/json")},
		},
	}, delivered))
	request := (<-delivered).(*kafka.Message).TopicPartition
	check(request.Error)

	// The id of an outcome is the position of its request.
	id := fmt.Sprintf("%s-%d-%d", requests, request.Partition, request.Offset)
	for time.Now().Before(expires) {
		if record, ok := consumer.Poll(100).(*kafka.Message); ok {
			for _, header := range record.Headers {
				if header.Key == "ce_id" && string(header.Value) == id {
					fmt.Println(*record.TopicPartition.Topic, string(record.Value))
					return // a second copy is not read
				}
			}
		}
	}
	log.Fatal("no outcome in time; the request has expired")
}

func must[T any](value T, err error) T { check(err); return value }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
