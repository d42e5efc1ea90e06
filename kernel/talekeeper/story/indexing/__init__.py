"""What is indexed of messages and records, the vectors of passages, and the maintenance of the index."""
