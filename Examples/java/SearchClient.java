import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends one search and prints its outcome. It needs org.apache.kafka:kafka-clients and KAFKA_BOOTSTRAP_SERVERS. */
class SearchClient {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> servers = Map.of("bootstrap.servers", System.getenv("KAFKA_BOOTSTRAP_SERVERS"));
        try (var consumer = new KafkaConsumer<>(servers, new StringDeserializer(), new StringDeserializer());
                var producer = new KafkaProducer<>(servers, new StringSerializer(), new StringSerializer())) {
            // Read before you write. seekToEnd() alone is lazy: position() fixes where reading begins.
            var partitions = Stream.of("location-search.results", "location-search.errors")
                    .flatMap(topic -> consumer.partitionsFor(topic).stream())
                    .map(each -> new TopicPartition(each.topic(), each.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToEnd(partitions);
            partitions.forEach(consumer::position);

            var expires = Instant.now().plusSeconds(30);
            var record = new ProducerRecord<>("location-search.requests", "browser-3", """
                    {"requestId": "order-7", "sessionId": "browser-3",
                     "location": {"latitude": 35.690921, "longitude": 139.700258}}""");
            Map.of("ce_specversion", "1.0", "ce_type", "location-search.requested.v1", "ce_source", "/shop",
                    "ce_id", "order-7", "ce_expirytime", expires.toString(), "content-type", "application/json")
                    .forEach((name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
            var request = producer.send(record).get();

            // The id of an outcome is the position of its request.
            var id = (request.topic() + "-" + request.partition() + "-" + request.offset()).getBytes(UTF_8);
            while (Instant.now().isBefore(expires)) {
                for (var outcome : consumer.poll(Duration.ofMillis(100))) {
                    var header = outcome.headers().lastHeader("ce_id");
                    if (header != null && Arrays.equals(header.value(), id)) {
                        System.out.println(outcome.topic() + " " + outcome.value());
                        return; // a second copy is not read
                    }
                }
            }
            throw new IllegalStateException("no outcome in time; the request has expired");
        }
    }
}
