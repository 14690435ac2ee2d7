/*M!999999\- enable the sandbox mode */
-- MariaDB dump 10.19; Host: db'1
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT 0 COMMENT 'ns; (see `x`, y)',
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_random` double(8,2) DEFAULT NULL,
  PRIMARY KEY (`page_id`),
  UNIQUE KEY `page_name_title` (`page_namespace`,`page_title`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
/*!40000 ALTER TABLE `page` DISABLE KEYS */;

/*!40000 ALTER TABLE `page` ENABLE KEYS */;
UNLOCK TABLES;
-- Dump completed on 2024-03-02  1:23:45
